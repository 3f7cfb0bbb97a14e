// Product of two tiles in workgroup memory, each invocation keeping TM x TN sums in registers.

const MT4 = MT / 4u;
const NT4 = NT / 4u;
const TM4 = TM / 4u;
const TN4 = TN / 4u;
const THREADS_M = MT / TM;
const THREADS = THREADS_M * (NT / TN);

var<workgroup> a_tile: array<vec4<f32>, KC * MT4>;
var<workgroup> b_tile: array<vec4<f32>, KC * NT4>;

// Sums of TM rows, each of TN4 vectors.
struct Tile {
    v: array<vec4<f32>, TM * TN4>,
}

// Adds the products of one chunk. `a` and `b` are this invocation's first vectors in a tile row.
fn tile_add_chunk(tile: ptr<function, Tile>, a: u32, b: u32) {
    for (var k = 0u; k < KC; k += 1u) {
        var columns: array<vec4<f32>, TN4>;
        for (var j = 0u; j < TN4; j += 1u) {
            columns[j] = b_tile[k * NT4 + b + j];
        }
        for (var i = 0u; i < TM4; i += 1u) {
            let rows = a_tile[k * MT4 + a + i];
            for (var j = 0u; j < TN4; j += 1u) {
                (*tile).v[(4u * i) * TN4 + j] += rows.x * columns[j];
                (*tile).v[(4u * i + 1u) * TN4 + j] += rows.y * columns[j];
                (*tile).v[(4u * i + 2u) * TN4 + j] += rows.z * columns[j];
                (*tile).v[(4u * i + 3u) * TN4 + j] += rows.w * columns[j];
            }
        }
    }
}
