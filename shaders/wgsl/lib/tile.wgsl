// Product of two tiles in workgroup memory, each invocation keeping TM x TN sums in registers.
//
// The columns are WEIGHTS slots of SLOT columns. Every slot has a weight of its own, so a step of the
// sum holds MT rows for each slot; an invocation stays within one slot.

const NT = WEIGHTS * SLOT;
const MT4 = MT / 4u;
const NT4 = NT / 4u;
const TM4 = TM / 4u;
const TN4 = TN / 4u;
const THREADS_M = MT / TM;
const THREADS = THREADS_M * (NT / TN);
// Vectors of one step in the left tile.
const A_STEP = WEIGHTS * MT4;

var<workgroup> a_tile: array<vec4<f32>, KC * A_STEP>;
var<workgroup> b_tile: array<vec4<f32>, KC * NT4>;

// Sums of TM rows, each of TN4 vectors.
struct Tile {
    v: array<vec4<f32>, TM * TN4>,
}

// The part of the tile that an invocation owns.
fn own_row(local: u32) -> u32 {
    return local % THREADS_M * TM;
}

fn own_column(local: u32) -> u32 {
    return local / THREADS_M * TN;
}

// Adds the products of one chunk to the sums that an invocation owns.
fn tile_add_chunk(tile: ptr<function, Tile>, local: u32) {
    let a = own_column(local) / SLOT * MT4 + own_row(local) / 4u;
    let b = own_column(local) / 4u;
    for (var k = 0u; k < KC; k += 1u) {
        var columns: array<vec4<f32>, TN4>;
        for (var j = 0u; j < TN4; j += 1u) {
            columns[j] = b_tile[k * NT4 + b + j];
        }
        for (var i = 0u; i < TM4; i += 1u) {
            let rows = a_tile[k * A_STEP + a + i];
            for (var j = 0u; j < TN4; j += 1u) {
                (*tile).v[(4u * i) * TN4 + j] += rows.x * columns[j];
                (*tile).v[(4u * i + 1u) * TN4 + j] += rows.y * columns[j];
                (*tile).v[(4u * i + 2u) * TN4 + j] += rows.z * columns[j];
                (*tile).v[(4u * i + 3u) * TN4 + j] += rows.w * columns[j];
            }
        }
    }
}
