// info: 0..5 noise key, 5 invocations, then (SLOTTED) the slot of each example.

// The weight of an example: its slot, or itself where every example has its own.
fn slot_of(example: u32) -> u32 {
    if (SLOTTED) {
        return info[6u + example];
    }
    return select(0u, example, GAUSSIAN);
}
