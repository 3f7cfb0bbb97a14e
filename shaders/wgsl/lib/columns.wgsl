// The columns of a tile: SLOT neighbours out of the columns of a block of WEIGHTS neighbouring
// segments. A column of a segment is one of POSITIONS positions of one of its examples.

struct Slot {
    // Place of the segment's first example in the order.
    first: u32,
    // Columns of the whole segment.
    columns: u32,
}

struct Columns {
    first_segment: u32,
    // Column of the segments at which the slots begin.
    start: u32,
    // Whether any slot has a column.
    busy: bool,
}

var<workgroup> slots: array<Slot, WEIGHTS>;
var<workgroup> shared_columns: Columns;

// A tile counted over all segments: its block, and its place among the tiles of the block.
fn tile_place(tile: u32) -> vec2<u32> {
    if (!LISTED) {
        return vec2<u32>(tile / info[6], tile % info[6]);
    }
    // The last block that begins at or before the tile. Blocks without tiles begin where the next one
    // does, so they are never the last.
    let starts = HEAD + info[5] + 1u + info[8];
    var low = 0u;
    var high = (info[5] + WEIGHTS - 1u) / WEIGHTS;
    while (high - low > 1u) {
        let middle = (low + high) / 2u;
        if (info[starts + middle] <= tile) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return vec2<u32>(low, tile - info[starts + low]);
}

// To be called by the whole workgroup, with a tile counted over all segments.
fn load_columns(tile: u32, local: u32) -> Columns {
    if (local == 0u) {
        let place = tile_place(tile);
        let first_segment = place.x * WEIGHTS;
        let start = place.y * SLOT;
        var busy = false;
        for (var w = 0u; w < WEIGHTS; w += 1u) {
            let segment = segment_at(first_segment + w);
            let columns = segment.examples * POSITIONS;
            // An empty slot names an example too, whose values are read and not used.
            slots[w] = Slot(select(segment.first, 0u, columns == 0u), columns);
            busy = busy | (start < columns);
        }
        shared_columns = Columns(first_segment, start, busy);
    }
    return workgroupUniformLoad(&shared_columns);
}

struct Place {
    example: u32,
    position: u32,
    exists: bool,
}

// Where column `n` of the tile lies, its slots beginning at column `start`.
fn place_of(start: u32, n: u32) -> Place {
    let slot = slots[n / SLOT];
    let column = start + n % SLOT;
    let exists = column < slot.columns;
    let kept = select(0u, column, exists);
    return Place(example_at(slot.first + kept / POSITIONS), kept % POSITIONS, exists);
}

// The weight of slot `w`; slots past the last segment repeat it.
fn weight_of(first_segment: u32, w: u32) -> u32 {
    return min(first_segment + w, info[5] - 1u);
}
