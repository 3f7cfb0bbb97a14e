// x under one tap of the window at an output position; zero in the padding.
fn x_at(example: u32, channel: u32, tap: u32, position: u32) -> f32 {
    let iy = i32(position / OW * SY + tap / KW * DY) - i32(PT);
    let ix = i32(position % OW * SX + tap % KW * DX) - i32(PL);
    // Not `&&`: see window_grad.wgsl.
    let inside = (iy >= 0) & (ix >= 0) & (iy < i32(H)) & (ix < i32(W));
    let pixel = select(0u, u32(iy) * W + u32(ix), inside);
    let value = x[example * X_EXAMPLE + channel * X_CHANNEL + pixel * X_POSITION];
    return select(0.0, value, inside);
}
