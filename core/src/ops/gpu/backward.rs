//! Gradients of the exemplar ops.

use super::launch::{empty_like, empty_tensor, run, tensor_on};
use super::{ExemplarOp, device, kernels};
use bayesadapter_shaders::kernels::{Reduction, SourceKind};
use bayesadapter_shaders::{BySlot, Map, Source};
use burn_wgpu::CubeTensor;

const FLOAT: u64 = size_of::<f32>() as u64;

/// dx.
pub(super) fn input(grad: &CubeTensor, parameters: &[CubeTensor], op: &ExemplarOp) -> CubeTensor {
    let dx = empty_tensor(grad, &op.map.x_shape());
    let launch = kernels::backward_x(&op.map, &op.source, device::variant(&grad.client));
    let tensors: Vec<_> = [grad, &dx].into_iter().chain(parameters).collect();
    run(&grad.client, launch, &tensors);
    dx
}

/// Gradients of the parameters of the source.
pub(super) fn parameters(
    grad: &CubeTensor,
    x: &CubeTensor,
    parameters: &[CubeTensor],
    op: &ExemplarOp,
) -> Vec<CubeTensor> {
    match &op.source {
        Source::Given { .. } => vec![given(grad, x, &parameters[0], op)],
        Source::Gaussian { .. } => gaussian(grad, x, &parameters[1], op),
        Source::LowRank {
            index,
            components,
            rank,
        } => low_rank(grad, x, parameters, &op.map, index, *components, *rank),
    }
}

/// How many runs of so many floats fit into one binding; the public op has made sure of one.
fn bindable(like: &CubeTensor, floats: usize) -> usize {
    let limit = like.client.properties().memory.max_page_size;
    ((limit / (floats as u64 * FLOAT)) as usize).max(1)
}

fn given(grad: &CubeTensor, x: &CubeTensor, weights: &CubeTensor, op: &ExemplarOp) -> CubeTensor {
    let (map, kind) = (&op.map, SourceKind::Given);
    let variant = device::variant(&grad.client);
    let len = kernels::region_len(map, kind);
    // At least one part for each weight: together they take no more than the weights.
    let parts = kernels::useful_parts(map, kind, variant).min(bindable(grad, len));
    let reduction = Reduction::of_all(&op.source, map.batch(), parts);
    let launch = kernels::backward_w(map, kind, &reduction, variant);
    let out = empty_like(weights);
    if reduction.is_direct() {
        run(&grad.client, launch, &[x, grad, &out]);
        return out;
    }
    let sums = empty_tensor(grad, &[reduction.parts() * len]);
    run(&grad.client, launch, &[x, grad, &sums]);
    let launch = kernels::sum_parts(&reduction.slot_starts, len, len, 0);
    run(&grad.client, launch, &[&sums, &out]);
    out
}

fn gaussian(
    grad: &CubeTensor,
    x: &CubeTensor,
    psi: &CubeTensor,
    op: &ExemplarOp,
) -> Vec<CubeTensor> {
    let (map, kind) = (&op.map, SourceKind::Gaussian);
    let variant = device::variant(&grad.client);
    let (len, region) = (map.weight_len(), kernels::region_len(map, kind));
    let parts = kernels::useful_parts(map, kind, variant).min(bindable(grad, 2 * region));
    let reduction = Reduction::of_all(&op.source, map.batch(), parts);
    let sums = empty_tensor(grad, &[reduction.parts() * 2 * region]);
    let launch = kernels::backward_w(map, kind, &reduction, variant);
    run(&grad.client, launch, &[x, grad, &sums, psi]);
    let shape = map.weight_shape();
    let (len_bytes, region_bytes) = (len as u64 * FLOAT, region as u64 * FLOAT);
    if reduction.is_direct() {
        return [0, 1]
            .map(|at| {
                let after = (2 - at) * region_bytes - len_bytes;
                let handle = sums.handle.clone().offset_start(at * region_bytes);
                tensor_on(grad, &shape, handle.offset_end(after))
            })
            .to_vec();
    }
    [0, 1]
        .map(|at| {
            let out = empty_tensor(grad, &shape);
            let launch = kernels::sum_parts(&reduction.slot_starts, len, 2 * region, at * region);
            run(&grad.client, launch, &[&sums, &out]);
            out
        })
        .to_vec()
}

/// A few components at a time, so that memory holds a bounded number of weights.
fn low_rank(
    grad: &CubeTensor,
    x: &CubeTensor,
    parameters: &[CubeTensor],
    map: &Map,
    index: &[u32],
    components: usize,
    rank: usize,
) -> Vec<CubeTensor> {
    let gradients: Vec<_> = parameters.iter().map(empty_like).collect();
    let variant = device::variant(&grad.client);
    let stride = kernels::region_len(map, SourceKind::Given);
    let parts = kernels::components_at_once(map, variant).min(bindable(grad, stride));
    let mut first = 0;
    while first < components {
        let slots = first..(first + parts).min(components);
        let reduction = Reduction::of_slots(index, components, slots.clone(), parts);
        let sums = empty_tensor(grad, &[reduction.parts() * stride]);
        let launch = kernels::backward_w(map, SourceKind::Given, &reduction, variant);
        run(&grad.client, launch, &[x, grad, &sums]);
        let entries: Vec<u32> = (0..reduction.parts() as u32).collect();
        let fold = Fold {
            map,
            rank,
            stride,
            first,
            starts: &reduction.slot_starts,
            entries: &entries,
        };
        fold.run(&sums, parameters, &gradients);
        first = slots.end;
    }
    gradients
}

/// `[dW, dl, dr]` from the gradients of materialised draws.
pub(super) fn fold_draws(
    grad: &CubeTensor,
    parameters: &[CubeTensor],
    map: &Map,
    rank: usize,
    index: &[u32],
) -> Vec<CubeTensor> {
    let gradients: Vec<_> = parameters.iter().map(empty_like).collect();
    let components = parameters[1].meta.shape()[0];
    let by_slot = BySlot::new(index, components);
    let fold = Fold {
        map,
        rank,
        stride: map.weight_len(),
        first: 0,
        starts: &by_slot.starts,
        entries: &by_slot.order,
    };
    fold.run(grad, parameters, &gradients);
    gradients
}

/// Gradients of weights, each of which is an entry of one component.
struct Fold<'a> {
    map: &'a Map,
    rank: usize,
    /// Floats from one entry to the next.
    stride: usize,
    first: usize,
    /// Entries of component `first + i`: `entries[starts[i] .. starts[i + 1]]`.
    starts: &'a [u32],
    entries: &'a [u32],
}

impl Fold<'_> {
    fn run(&self, d_weight: &CubeTensor, parameters: &[CubeTensor], gradients: &[CubeTensor]) {
        let [shared, left, right] = [0, 1, 2].map(|at| &parameters[at]);
        let [d_shared, d_left, d_right] = [0, 1, 2].map(|at| &gradients[at]);
        let client = &d_weight.client;
        let Self {
            map,
            rank,
            stride,
            first,
            starts,
            entries,
        } = *self;
        let launch = kernels::fold_shared(map, rank, stride, &self.components(), first > 0);
        run(client, launch, &[d_weight, d_shared, left, right]);
        let launch = kernels::fold_left(map, rank, stride, first, starts, entries);
        run(client, launch, &[d_weight, shared, right, d_left]);
        let launch = kernels::fold_right(map, rank, stride, first, starts, entries);
        run(client, launch, &[d_weight, shared, left, d_right]);
    }

    /// The component of each entry.
    fn components(&self) -> Vec<u32> {
        let mut components = vec![0; self.entries.len()];
        for (slot, ends) in self.starts.windows(2).enumerate() {
            for &entry in &self.entries[ends[0] as usize..ends[1] as usize] {
                components[entry as usize] = (self.first + slot) as u32;
            }
        }
        components
    }
}
