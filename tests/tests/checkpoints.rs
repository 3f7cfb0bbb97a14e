//! Checkpoints of every format in a small network: values, accounts, and what is refused.
//!
//! The files are those of `golden/make_checkpoints.py`, which says what they do not cover.

use bayesadapter::checkpoint::{
    Applied, Checkpoint, CheckpointError, Format, LoadAccount, LoadOptions, Naming, Rename,
    load_into,
};
use burn::module::{Lora, Module, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{
    BatchNorm, BatchNormConfig, GroupNorm, GroupNormConfig, Linear, LinearConfig, LinearLayout,
    PRelu, PReluConfig,
};
use burn::tensor::{Device, Tensor};
use std::path::PathBuf;

/// The network that `make_checkpoints.py` saves.
#[derive(Module, Debug)]
struct Net {
    conv: Conv2d,
    norm: BatchNorm,
    fc: Linear,
}

impl Net {
    fn new(classes: usize, device: &Device) -> Self {
        Self {
            conv: Conv2dConfig::new([3, 4], [3, 3]).init(device),
            norm: BatchNormConfig::new(4).init(device),
            fc: LinearConfig::new(4, classes).init(device),
        }
    }
}

fn net() -> Net {
    Net::new(5, &Device::flex())
}

fn path(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/checkpoints");
    PathBuf::from(folder).join(name)
}

fn open(name: &str) -> Checkpoint {
    Checkpoint::open(path(name)).unwrap_or_else(|error| panic!("{error}"))
}

fn load(name: &str, options: &LoadOptions) -> (Net, LoadAccount) {
    load_into(net(), &open(name), options).unwrap_or_else(|error| panic!("{error}"))
}

fn refused<T>(result: Result<T, CheckpointError>) -> CheckpointError {
    match result {
        Ok(_) => panic!("this should have been refused"),
        Err(error) => error,
    }
}

fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().expect("f32")
}

/// What the script's `values` gives for tensor `number`.
fn values(number: usize, count: usize) -> Vec<f32> {
    let value = |i: usize| (i as f32 % 13.0 - 6.0) / 4.0 + number as f32;
    (0..count).map(value).collect()
}

/// Tensors of the script are numbered in the order of its `SHAPES`; `shift` is added to all.
fn assert_golden(net: &Net, shift: f32, about: &str) {
    let expected =
        |number, count| -> Vec<f32> { values(number, count).iter().map(|x| x + shift).collect() };
    assert_eq!(floats(net.conv.weight.val()), expected(0, 108), "{about}");
    let bias = net.conv.bias.as_ref().expect("a bias");
    assert_eq!(floats(bias.val()), expected(1, 4), "{about}");
    assert_eq!(floats(net.norm.gamma.val()), expected(2, 4), "{about}");
    assert_eq!(floats(net.norm.beta.val()), expected(3, 4), "{about}");
    let mean = net.norm.running_mean.value();
    assert_eq!(floats(mean), expected(4, 4), "{about}");
    let var = net.norm.running_var.value();
    assert_eq!(floats(var), expected(5, 4), "{about}");
    // PyTorch has [out, in], Burn [in, out].
    let weight = floats(net.fc.weight.val().transpose());
    assert_eq!(weight, expected(7, 20), "{about}");
    let bias = net.fc.bias.as_ref().expect("a bias");
    assert_eq!(floats(bias.val()), expected(8, 5), "{about}");
}

#[test]
fn every_format_gives_the_same_network() {
    let files = [
        ("zip.pt", Format::PytorchZip, ""),
        ("no_checksums.pt", Format::PytorchZip, ""),
        ("protocol4.pt", Format::PytorchZip, ""),
        ("legacy.pt", Format::PytorchLegacy, ""),
        ("wrapped.pt", Format::PytorchZip, "state_dict.module."),
        ("wrapped_legacy.pth", Format::PytorchLegacy, "model."),
        ("compiled.pt", Format::PytorchZip, ""),
        ("f16.pt", Format::PytorchZip, ""),
        ("bf16.pt", Format::PytorchZip, ""),
        ("f64.pt", Format::PytorchZip, ""),
        ("plain.safetensors", Format::Safetensors, ""),
    ];
    for (name, format, stripped) in files {
        let (net, account) = load(name, &LoadOptions::default());
        assert_golden(&net, 0.0, name);
        assert_eq!(account.format, format, "{name}");
        assert_eq!(account.stripped, stripped, "{name}");
        assert_eq!(account.naming, Naming::Torch, "{name}");
        assert_eq!(account.applied.len(), 8, "{name}");
        assert!(account.is_complete(), "{name}");
        assert_eq!(account.ignored.len(), 1, "{name}");
        assert!(account.alternatives.is_empty(), "{name}");
    }
}

#[test]
fn the_account_names_everything() {
    let (_, account) = load("wrapped.pt", &LoadOptions::default());
    let first = Applied {
        parameter: "conv.weight".to_owned(),
        tensor: "state_dict.module.conv.weight".to_owned(),
    };
    assert_eq!(account.applied[0], first);
    assert_eq!(account.applied[2].parameter, "norm.gamma");
    assert_eq!(account.unused, ["optimizer.state.0.momentum_buffer"]);
    assert_eq!(
        account.ignored,
        ["state_dict.module.norm.num_batches_tracked"]
    );
    let told = account.to_string();
    assert_eq!(
        told,
        "PyTorch: 8 parameters fit, found under `state_dict.module.`\n  \
         unused: 1 (optimizer.state.0.momentum_buffer)\n  \
         ignored: 1 counters (num_batches_tracked)"
    );
    let json = serde_json::to_value(&account).expect("JSON");
    assert_eq!(json["stripped"], "state_dict.module.");
    assert_eq!(json["naming"], "Torch");
}

#[test]
fn averaged_weights_are_taken_only_when_asked_for() {
    let (net, account) = load("twice.pt", &LoadOptions::default());
    assert_golden(&net, 0.0, "model");
    assert_eq!(
        (account.stripped.as_str(), account.alternatives),
        ("model.", vec!["ema.".to_owned()])
    );
    let prefix = Some("ema".to_owned());
    let options = LoadOptions {
        prefix,
        ..LoadOptions::default()
    };
    let (net, account) = load("twice.pt", &options);
    assert_golden(&net, 1.0, "ema");
    assert_eq!(account.stripped, "ema.");
}

#[test]
fn another_number_of_classes_is_refused_unless_the_head_may_be_replaced() {
    let checkpoint = open("zip.pt");
    let fresh = Net::new(7, &Device::flex());
    let head = floats(fresh.fc.weight.val());
    let kept = fresh.clone();
    let error = refused(load_into(
        fresh.clone(),
        &checkpoint,
        &LoadOptions::default(),
    ));
    let account = error.account().expect("an account");
    assert_eq!(account.wrong_shape.len(), 2);
    let wrong = &account.wrong_shape[0];
    assert_eq!(
        (&wrong.expected[..], &wrong.found[..]),
        (&[7, 4][..], &[5, 4][..])
    );
    let message = error.to_string();
    assert!(
        message.contains("5 classes") && message.contains("`replace_head`"),
        "{message}"
    );
    // Nothing has changed, not even statistics that clones share.
    assert_eq!(floats(kept.norm.running_mean.value()), [0.0; 4]);

    let options = LoadOptions {
        replace_head: true,
        ..LoadOptions::default()
    };
    let (net, account) = load_into(fresh, &checkpoint, &options).expect("a replaced head");
    assert_eq!(account.replaced_head.len(), 2);
    assert!(account.is_complete());
    assert_eq!(floats(net.fc.weight.val()), head);
    assert_eq!(floats(net.norm.gamma.val()), values(2, 4));
}

#[derive(Module, Debug)]
struct Renamed {
    conv: Conv2d,
    bn: BatchNorm,
    head: Linear,
}

fn renamed(kernel: usize) -> Renamed {
    let device = Device::flex();
    Renamed {
        conv: Conv2dConfig::new([3, 4], [kernel, kernel]).init(&device),
        bn: BatchNormConfig::new(4).init(&device),
        head: LinearConfig::new(4, 5).init(&device),
    }
}

#[test]
fn missing_parameters_come_with_the_nearest_name() {
    let checkpoint = open("wrapped.pt");
    let error = refused(load_into(renamed(3), &checkpoint, &LoadOptions::default()));
    let account = error.account().expect("an account");
    assert_eq!(account.missing.len(), 6);
    let missing = &account.missing[4];
    assert_eq!(missing.parameter, "head.weight");
    assert_eq!(missing.tensor, "state_dict.module.head.weight");
    assert_eq!(
        missing.nearest.as_deref(),
        Some("state_dict.module.fc.weight")
    );
    assert!(error.to_string().contains("`rename`"));

    let allow_missing = LoadOptions {
        allow_missing: true,
        ..LoadOptions::default()
    };
    let (_, account) = load_into(renamed(3), &checkpoint, &allow_missing).expect("a part");
    assert_eq!((account.applied.len(), account.missing.len()), (2, 6));

    let rename = LoadOptions {
        rename: Some(Rename::by(|path| {
            path.replace("bn.", "norm.").replace("head.", "fc.")
        })),
        ..LoadOptions::default()
    };
    let (net, account) = load_into(renamed(3), &checkpoint, &rename).expect("all of it");
    assert_eq!(account.applied.len(), 8);
    assert_eq!(floats(net.bn.beta.val()), values(3, 4));

    // Not the head: `replace_head` does not help.
    let wrong = LoadOptions {
        replace_head: true,
        ..rename
    };
    let error = refused(load_into(renamed(1), &checkpoint, &wrong));
    let account = error.account().expect("an account");
    assert_eq!(account.wrong_shape[0].expected, [4, 3, 1, 1]);
    assert!(
        error
            .to_string()
            .contains("`state_dict.module.conv.weight`")
    );
}

#[test]
fn a_checkpoint_of_something_else_is_refused_even_if_all_may_be_missing() {
    let options = LoadOptions {
        allow_missing: true,
        ..LoadOptions::default()
    };
    let error = refused(load_into(net(), &open("odd.pt"), &options));
    assert_eq!(error.account().expect("an account").missing.len(), 8);
}

#[test]
fn parameters_keep_ids_and_gradients_and_loaded_statistics_last() {
    let device = Device::flex().autodiff();
    let mut net = Net::new(5, &device);
    net.conv = net.conv.no_grad();
    // A training step leaves an update of the statistics pending.
    let x = Tensor::<4>::ones([2, 4, 3, 3], &device);
    net.norm.forward(x);
    let ids = [net.conv.weight.id, net.fc.weight.id];
    let (net, _) = load_into(net, &open("zip.pt"), &LoadOptions::default()).expect("loaded");
    assert_eq!([net.conv.weight.id, net.fc.weight.id], ids);
    assert!(!net.conv.weight.is_require_grad());
    assert!(net.fc.weight.is_require_grad());
    assert_eq!(floats(net.norm.running_mean.value_sync()), values(4, 4));
    assert_eq!(floats(net.valid().norm.running_var.value()), values(5, 4));
}

#[test]
fn fresh_parameters_are_not_initialised_in_vain() {
    let net = net();
    let clone = net.clone();
    load_into(net, &open("zip.pt"), &LoadOptions::default()).expect("loaded");
    assert!(!clone.conv.weight.is_initialized());
    assert!(!clone.fc.weight.is_initialized());
}

#[test]
fn records_of_burn_come_back_exactly() {
    let (saved, _) = load("zip.pt", &LoadOptions::default());
    let bytes = saved.clone().into_record().into_bytes().expect("a record");
    let checkpoint = Checkpoint::from_bytes(bytes.to_vec()).expect("a checkpoint");
    assert_eq!(checkpoint.format(), Format::Burnpack);
    let (net, account) = load_into(net(), &checkpoint, &LoadOptions::default()).expect("loaded");
    assert_golden(&net, 0.0, "record");
    assert_eq!(account.naming, Naming::Burn);
    assert!(account.unused.is_empty() && account.ignored.is_empty());
}

#[test]
fn safetensors_that_burn_wrote_keep_its_layout() {
    let weight = |metadata: &str| {
        let header = format!(
            r#"{{{metadata}"weight":{{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}}}"#
        );
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        file.extend([1f32, 2.0, 3.0, 4.0].into_iter().flat_map(f32::to_le_bytes));
        let checkpoint = Checkpoint::from_bytes(file).expect("a checkpoint");
        let layer = LinearConfig::new(2, 2)
            .with_bias(false)
            .init(&Device::flex());
        let (layer, _) = load_into(layer, &checkpoint, &LoadOptions::default()).expect("loaded");
        floats(layer.weight.val())
    };
    assert_eq!(weight(""), [1.0, 3.0, 2.0, 4.0]);
    let metadata = r#""__metadata__":{"producer":"burn"},"#;
    assert_eq!(weight(metadata), [1.0, 2.0, 3.0, 4.0]);
}

/// Square, so that no shape tells whether a weight is transposed.
#[test]
fn linear_layers_of_either_layout_load_from_either_framework() {
    let header = br#"{"weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend([1f32, 2.0, 3.0, 4.0].into_iter().flat_map(f32::to_le_bytes));
    let torch = Checkpoint::from_bytes(file).expect("a checkpoint");
    let config = LinearConfig::new(2, 2).with_bias(false);
    let x = || Tensor::<2>::from_data([[1.0, 10.0]], &Device::flex());
    for layout in [LinearLayout::Row, LinearLayout::Col] {
        for is_fresh in [true, false] {
            let layer = || {
                let layer = config.clone().with_layout(layout).init(&Device::flex());
                if !is_fresh {
                    layer.forward(x());
                }
                layer
            };
            let (loaded, _) = load_into(layer(), &torch, &LoadOptions::default()).expect("torch");
            // y = W x with W = [[1, 2], [3, 4]].
            assert_eq!(floats(loaded.forward(x())), [21.0, 43.0]);
            let record = loaded.into_record().into_bytes().expect("a record");
            let burn = Checkpoint::from_bytes(record.to_vec()).expect("a checkpoint");
            let (again, account) =
                load_into(layer(), &burn, &LoadOptions::default()).expect("burn");
            assert_eq!(account.naming, Naming::Burn);
            assert_eq!(floats(again.forward(x())), [21.0, 43.0]);
        }
    }
}

#[derive(Module, Debug)]
enum Activation {
    PRelu(PRelu),
}

#[derive(Module, Debug)]
struct Other {
    blocks: Vec<GroupNorm>,
    act: Activation,
    scale: Param<Tensor<1>>,
}

#[test]
fn norms_activations_and_enums_have_pytorch_names() {
    let device = Device::flex();
    let module = Other {
        blocks: vec![GroupNormConfig::new(1, 2).init(&device)],
        act: Activation::PRelu(PReluConfig::new().init(&device)),
        scale: Param::from_data([0.0], &device),
    };
    // `scale` is a scalar in PyTorch.
    let header = br#"{
        "blocks.0.weight": {"dtype":"F32","shape":[2],"data_offsets":[0,8]},
        "blocks.0.bias": {"dtype":"F32","shape":[2],"data_offsets":[8,16]},
        "act.weight": {"dtype":"F32","shape":[1],"data_offsets":[16,20]},
        "scale": {"dtype":"F32","shape":[],"data_offsets":[20,24]}}"#;
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend((1..=6u8).flat_map(|value| f32::from(value).to_le_bytes()));
    let checkpoint = Checkpoint::from_bytes(file).expect("a checkpoint");
    let (module, account) =
        load_into(module, &checkpoint, &LoadOptions::default()).expect("loaded");
    assert!(account.is_complete() && account.unused.is_empty());
    let gamma = module.blocks[0].gamma.as_ref().expect("affine");
    assert_eq!(floats(gamma.val()), [1.0, 2.0]);
    let Activation::PRelu(prelu) = &module.act;
    assert_eq!(floats(prelu.alpha.val()), [5.0]);
    assert_eq!(floats(module.scale.val()), [6.0]);
}

#[test]
fn state_attached_to_parameters_is_optional_in_plain_files_and_restored_from_records() {
    let adapted = net().apply_lora(Lora::new(1, 1.0));
    let (adapted, account) =
        load_into(adapted, &open("zip.pt"), &LoadOptions::default()).expect("loaded");
    assert_eq!(account.applied.len(), 8);
    assert_golden(&adapted.clone().materialize(), 0.0, "adapter of zeros");
    let record = adapted
        .clone()
        .into_record()
        .into_bytes()
        .expect("a record");
    let checkpoint = Checkpoint::from_bytes(record.to_vec()).expect("a checkpoint");
    let fresh = net().apply_lora(Lora::new(1, 1.0));
    let (fresh, account) = load_into(fresh, &checkpoint, &LoadOptions::default()).expect("loaded");
    assert!(account.applied.len() > 8 && account.is_complete());
    let adapter = |net: &Net| {
        let record = net.clone().into_record().into_bytes().expect("a record");
        Checkpoint::from_bytes(record.to_vec()).expect("a checkpoint")
    };
    for (name, _) in checkpoint.iter() {
        let [now, before] =
            [adapter(&fresh), adapter(&adapted)].map(|c| c.to_f32(name).expect(name));
        assert_eq!(now, before, "{name}");
    }
}
