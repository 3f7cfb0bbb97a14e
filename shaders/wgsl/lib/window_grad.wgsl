// The gradient of the output whose window sees an input position through one tap; zero where
// there is none.
fn grad_at(example: u32, channel: u32, tap: u32, position: u32) -> f32 {
    let ny = i32(position / W + PT) - i32(tap / KW * DY);
    let nx = i32(position % W + PL) - i32(tap % KW * DX);
    let oy = u32(max(ny, 0)) / SY;
    let ox = u32(max(nx, 0)) / SX;
    // Not `&&`: a chain of branches takes SwiftShader's compiler minutes.
    let inside = (ny >= 0) & (nx >= 0) & (oy < OH) & (ox < OW)
        & (oy * SY == u32(ny)) & (ox * SX == u32(nx));
    let pixel = select(0u, oy * OW + ox, inside);
    let value = grad[example * Y_EXAMPLE + channel * Y_CHANNEL + pixel * Y_POSITION];
    return select(0.0, value, inside);
}
