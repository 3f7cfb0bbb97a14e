// Backward of a source without noise: the gradient of the weight is all there is.

fn load_source() {}

fn unit_noise(example: u32, row: u32, col: u32) -> vec4<f32> {
    return vec4<f32>(0.0);
}

fn spread(element: u32) -> f32 {
    return 0.0;
}
