//! The shader's noise against the Rust one: the same integers and uniforms, and normals that agree to
//! rounding.
//!
//! The text under test is the file that every kernel is composed with; only the entry point below is
//! the test's own, because no kernel writes out raw words.

use bayesadapter::ops::NoiseKey;
use bayesadapter_shaders::kernels::LIBRARY;
use bayesadapter_shaders::noise::{normals, uniform};
use bayesadapter_tests::{Tolerance, assert_close, wgpu_setup};
use burn::tensor::wgpu::wgpu;

/// Writes the words of blocks `info[6] ..` of example `info[5]`, their normals and their uniforms.
const ENTRY: &str = "
const ALIGNED = true;
@group(0) @binding(0) var<storage, read_write> info: array<u32>;
@group(0) @binding(1) var<storage, read_write> words: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> normal_values: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> uniform_values: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&words)) {
        return;
    }
    load_noise_key();
    let bits = noise_bits(info[5], info[6] + id.x);
    words[id.x] = bits;
    normal_values[id.x] = normals(bits);
    uniform_values[id.x] = vec4<f32>(uniforms(bits.xy), uniforms(bits.zw));
}
";

const BLOCKS: u32 = 5000;

#[test]
fn the_shader_makes_the_same_integers_uniforms_and_normals() {
    let gpu = NoiseShader::new();
    let keys = [
        NoiseKey::default(),
        NoiseKey {
            seed: 0x9ABC_DEF0_1234_5678,
            draw: 3,
            parameter: 11,
            first_example: 5,
        },
        NoiseKey {
            seed: u64::MAX,
            draw: u32::MAX,
            parameter: u32::MAX,
            first_example: u32::MAX,
        },
    ];
    for key in keys {
        for (example, block) in [(0, 0), (7, 123_456_789), (u32::MAX, u32::MAX - BLOCKS + 1)] {
            let what = format!("{key:?}, example {example}, block {block}");
            let [words, values, found_uniforms] = gpu.run(key, example, block);
            let values: Vec<f32> = values.into_iter().map(f32::from_bits).collect();
            let expected: Vec<[u32; 4]> = (0..BLOCKS)
                .map(|offset| key.bits(example, block + offset))
                .collect();
            assert_eq!(words, expected.as_flattened(), "{what}");
            let uniforms = words.iter().map(|&word| uniform(word).to_bits());
            assert_eq!(found_uniforms, uniforms.collect::<Vec<u32>>(), "{what}");
            let expected: Vec<f32> = expected.into_iter().flat_map(normals).collect();
            // An adapter may fuse a product with a sum; nothing else can differ.
            let rounding = Tolerance {
                relative: 2e-6,
                absolute: 1e-6,
            };
            assert_close(&what, &values, &expected, rounding);
        }
    }
}

/// The compiled shader with its device.
struct NoiseShader {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipeline: wgpu::ComputePipeline,
}

impl NoiseShader {
    fn new() -> Self {
        let setup = wgpu_setup();
        let noise = LIBRARY.iter().find(|(name, _)| *name == "noise");
        let (_, noise) = noise.expect("the library has the noise");
        let module = setup
            .device
            .create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("noise under test"),
                source: wgpu::ShaderSource::Wgsl([ENTRY, noise].concat().into()),
            });
        let pipeline = setup
            .device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("noise under test"),
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: Default::default(),
                cache: None,
            });
        Self {
            device: setup.device,
            queue: setup.queue,
            pipeline,
        }
    }

    fn buffer(&self, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    /// Words of [`BLOCKS`] blocks, and the bits of their normals and uniforms.
    fn run(&self, key: NoiseKey, example: u32, block: u32) -> [Vec<u32>; 3] {
        use wgpu::BufferUsages as Usage;
        let size = 16 * u64::from(BLOCKS);
        let info = [
            key.seed as u32,
            (key.seed >> 32) as u32,
            key.draw,
            key.parameter,
            key.first_example,
            example,
            block,
        ];
        let info_buffer = self.buffer(4 * info.len() as u64, Usage::STORAGE | Usage::COPY_DST);
        let bytes: Vec<u8> = info.into_iter().flat_map(u32::to_le_bytes).collect();
        self.queue.write_buffer(&info_buffer, 0, &bytes);
        let outputs = [(); 3].map(|()| self.buffer(size, Usage::STORAGE | Usage::COPY_SRC));
        let entries = [&info_buffer, &outputs[0], &outputs[1], &outputs[2]];
        let entries: Vec<wgpu::BindGroupEntry> = (0..)
            .zip(entries)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(BLOCKS.div_ceil(64), 1, 1);
        drop(pass);
        let copies = outputs.map(|output| self.read(&mut encoder, &output, size));
        self.queue.submit([encoder.finish()]);
        copies.map(|copy| self.finish(copy))
    }

    /// Asks for a copy that can be mapped once the commands have run.
    fn read(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        from: &wgpu::Buffer,
        size: u64,
    ) -> wgpu::Buffer {
        use wgpu::BufferUsages as Usage;
        let copy = self.buffer(size, Usage::MAP_READ | Usage::COPY_DST);
        encoder.copy_buffer_to_buffer(from, 0, &copy, 0, size);
        copy
    }

    fn finish(&self, copy: wgpu::Buffer) -> Vec<u32> {
        copy.map_async(wgpu::MapMode::Read, .., |result| {
            result.expect("the copy can be mapped");
        });
        self.device
            .poll(wgpu::PollType::wait_indefinitely())
            .expect("the adapter finishes its work");
        let bytes = copy.get_mapped_range(..).expect("mapped a moment ago");
        let (words, _) = bytes.as_chunks();
        words.iter().map(|&word| u32::from_le_bytes(word)).collect()
    }
}
