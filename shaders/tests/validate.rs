//! Every kernel x source x variant x geometry, composed by the code that runs it, is valid WGSL and
//! stays within the limits that WebGPU promises.

use bayesadapter_shaders::kernels::{self, Launch, Reduction, Segments, SourceKind, Variant};
use bayesadapter_shaders::{Conv2d, DrawAxis, Map, Matmul, NoiseKey, Padding, Source, cases};
use naga::AddressSpace;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::collections::BTreeSet;
use std::sync::Arc;

fn launches() -> Vec<Launch> {
    let (key, axis) = (NoiseKey::default(), DrawAxis::Example);
    let mut all = vec![
        kernels::sample_gaussian(key, axis, 3, 100),
        kernels::sample_gaussian_backward(key, axis, 3, 100),
        kernels::sum_parts(&[0, 2, 3], 100, 128, 0),
    ];
    let maps = [cases::small_maps(), cases::layers(), cases::large_maps()];
    for map in maps.concat() {
        for rank in [1, 3] {
            all.push(kernels::sample_low_rank(&map, rank, &[0, 1]));
            all.push(kernels::fold_shared(
                &map,
                rank,
                map.weight_len(),
                &[0],
                false,
            ));
            all.push(kernels::fold_left(
                &map,
                rank,
                map.weight_len(),
                0,
                &[0, 1],
                &[0],
            ));
            all.push(kernels::fold_right(
                &map,
                rank,
                map.weight_len(),
                0,
                &[0, 1],
                &[0],
            ));
        }
        for source in cases::sources(map.batch()) {
            let kind = SourceKind::from(&source);
            let segments = Segments::of_weights(&source, map.batch());
            let reduction = Reduction::of_all(&source, map.batch(), 4);
            all.push(kernels::product_forward(&map, kind, &segments));
            all.push(kernels::product_backward_x(&map, kind, &segments));
            all.push(kernels::product_backward_w(&map, kind, &reduction));
            all.extend(selected(&map, &source, Variant::Gpu));
        }
    }
    for map in cases::large_maps() {
        for source in cases::sources(map.batch()) {
            all.extend(selected(&map, &source, Variant::Software));
        }
    }
    all
}

/// The kernels that an adapter of this kind runs.
fn selected(map: &Map, source: &Source, variant: Variant) -> [Launch; 3] {
    let reduction = Reduction::of_all(source, map.batch(), 4);
    [
        kernels::forward(map, source, variant),
        kernels::backward_x(map, source, variant),
        kernels::backward_w(map, source.into(), &reduction, variant),
    ]
}

fn validate(launch: &Launch) -> Result<(), String> {
    let source = launch.kernel.source();
    let module =
        naga::front::wgsl::parse_str(&source).map_err(|error| error.emit_to_string(&source))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map_err(|error| format!("{error:?}"))?;
    let entry = module.entry_points.first().ok_or("no entry point")?;
    if module.entry_points.len() != 1 || entry.name != "main" {
        return Err("expected the single entry point main".into());
    }
    let threads = entry.workgroup_size.iter().product::<u32>();
    if threads != launch.kernel.threads() || threads > 256 {
        return Err(format!(
            "{threads} invocations, {} launched",
            launch.kernel.threads()
        ));
    }
    let used = info.get_entry_point(0);
    let mut shared_bytes = 0;
    let mut bindings = BTreeSet::new();
    for (handle, variable) in module.global_variables.iter() {
        match variable.space {
            AddressSpace::WorkGroup => {
                shared_bytes += module.types[variable.ty].inner.size(module.to_ctx());
            }
            AddressSpace::Storage { access } => {
                if access != naga::StorageAccess::LOAD | naga::StorageAccess::STORE {
                    return Err("a binding is not read_write".into());
                }
                if used[handle].is_empty() {
                    return Err(format!("binding {:?} is not used", variable.name));
                }
                bindings.extend(variable.binding.map(|binding| binding.binding));
            }
            _ => {}
        }
    }
    if shared_bytes > 16_384 {
        return Err(format!("{shared_bytes} bytes of workgroup memory"));
    }
    if bindings.len() > 8 || !bindings.iter().copied().eq(0..bindings.len() as u32) {
        return Err(format!("bindings {bindings:?}"));
    }
    Ok(())
}

#[test]
fn every_kernel_is_valid_within_the_limits() {
    let mut seen = BTreeSet::new();
    let mut composed = BTreeSet::new();
    for launch in launches() {
        let source = launch.kernel.source();
        seen.insert(launch.kernel.name);
        if composed.insert(source.clone())
            && let Err(error) = validate(&launch)
        {
            panic!("{}: {error}\n{source}", launch.kernel.name);
        }
        let [x, y, _] = launch.grid();
        assert!(x <= kernels::MAX_WORKGROUPS && y <= kernels::MAX_WORKGROUPS);
        assert!(u64::from(x) * u64::from(y) >= launch.workgroups);
    }
    assert!(
        composed.len() > 100,
        "only {} kernels composed",
        composed.len()
    );
    let files: BTreeSet<_> = kernels::SOURCES.iter().map(|(name, _)| *name).collect();
    assert_eq!(seen, files, "a kernel file is not validated");
}

/// However uneven the slots are, every workgroup has something to write.
#[test]
fn uneven_slots_launch_no_idle_workgroups() {
    let (batch, side, slots) = (65_536, 32, 65_536);
    let map = Map::Conv2d(Conv2d {
        batch,
        channels_in: 1,
        channels_out: 1,
        image: [side, side],
        kernel: [1, 1],
        stride: [1, 1],
        dilation: [1, 1],
        padding: Padding::default(),
        groups: 1,
    });
    let columns = (batch * side * side) as u64;
    // All examples in one slot; one of them in the last, so that most blocks are empty.
    let mut last_apart = vec![0; batch];
    last_apart[batch - 1] = slots as u32 - 1;
    for (index, used) in [(vec![0; batch], 1), (last_apart, 2)] {
        let index: Arc<[u32]> = index.into();
        let sources = [
            Source::Given {
                index: index.clone(),
                count: slots,
            },
            Source::LowRank {
                index,
                components: slots,
                rank: 1,
            },
        ];
        for source in sources {
            for launch in [
                kernels::forward(&map, &source, Variant::Gpu),
                kernels::backward_x(&map, &source, Variant::Gpu),
            ] {
                let slot = u64::from(launch.kernel.constant("SLOT").expect("a tiled kernel"));
                let most = columns.div_ceil(slot) + used - 1;
                assert!(
                    (1..=most).contains(&launch.workgroups),
                    "{} workgroups of {slot} columns",
                    launch.workgroups
                );
            }
        }
    }
}

/// A posterior makes them of as many shapes as there are layers, and compiling is what takes long in a browser.
#[test]
fn small_products_of_all_shapes_share_a_kernel() {
    let source = Source::Given {
        index: vec![0].into(),
        count: 1,
    };
    let kernel = |rows, inputs, outputs| {
        let map = Map::Matmul(Matmul {
            batch: 1,
            rows,
            inputs,
            outputs,
        });
        kernels::forward(&map, &source, Variant::Gpu).kernel
    };
    let first = kernel(9, 20, 16);
    for [rows, inputs, outputs] in [[144, 20, 32], [20, 512, 64], [512, 64, 20]] {
        assert_eq!(kernel(rows, inputs, outputs), first);
    }
    // Tiles are worth their compilation.
    assert_ne!(kernel(512, 512, 512), first);
}

/// The tables are written by hand; the folder is the truth.
#[test]
fn the_tables_list_every_file() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/wgsl");
    for (path, table) in [
        (folder.to_string(), kernels::SOURCES),
        (format!("{folder}/lib"), kernels::LIBRARY),
    ] {
        let on_disk: BTreeSet<String> = std::fs::read_dir(path)
            .expect("the folder of shaders")
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| Some(name.strip_suffix(".wgsl")?.to_string()))
            .collect();
        let listed: BTreeSet<String> = table.iter().map(|(name, _)| name.to_string()).collect();
        assert_eq!(on_disk, listed);
    }
}
