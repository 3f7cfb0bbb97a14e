// A segment is a set of examples that share one weight, or one part of a reduction.
//
// info: 0..5 noise key, 5 segments, 6 tiles per block of segments, 7 examples per segment, 8 batch,
// then (LISTED) the segments + 1 starts into the order, the order of the examples, and the tiles
// before each block of segments (see columns.wgsl).

const HEAD = 9u;

struct Segment {
    // Place of the first example in the order.
    first: u32,
    examples: u32,
    exists: bool,
}

fn segment_at(segment: u32) -> Segment {
    if (segment >= info[5]) {
        return Segment(0u, 0u, false);
    }
    var first = segment * info[7];
    var end = min(first + info[7], info[8]);
    if (LISTED) {
        first = info[HEAD + segment];
        end = info[HEAD + segment + 1u];
    }
    return Segment(first, end - first, true);
}

// The example at one place of the order.
fn example_at(place: u32) -> u32 {
    if (LISTED) {
        return info[HEAD + info[5] + 1u + place];
    }
    return place;
}

// Zeroes the elements of a vector that starts at `first` from `end` on.
fn keep_below(value: vec4<f32>, first: u32, end: u32) -> vec4<f32> {
    let at = vec4<u32>(first, first + 1u, first + 2u, first + 3u);
    return select(vec4<f32>(0.0), value, at < vec4<u32>(end));
}
