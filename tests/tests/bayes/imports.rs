//! One source of a model, with the imports of Burn and with ours.

use crate::subject::normals;
use bayesadapter::posterior::{Conversion, IntoBayes, MeanField};
use bayesadapter_tests::{Tolerance, assert_close, values};
use burn::{module::Module, tensor::Device};

macro_rules! model {
    ($name:ident, $($nn:ident)::+) => {
        mod $name {
            use burn::{
                module::Module,
                tensor::{Device, Tensor},
            };
            use $($nn)::+::{
                BatchNorm, BatchNormConfig, Dropout, DropoutConfig, Initializer, Linear,
                LinearConfig, PRelu, PReluConfig, PaddingConfig2d, Relu,
                activation::Gelu,
                conv::{Conv2d, Conv2dConfig, Conv3d},
                norm::{GroupNorm, GroupNormConfig},
                pool::{AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig},
            };

            #[derive(Module, Debug)]
            pub struct Model {
                conv: Conv2d,
                volume: Option<Conv3d>,
                norm: BatchNorm,
                slope: PRelu,
                groups: GroupNorm,
                gelu: Gelu,
                pool: AdaptiveAvgPool2d,
                relu: Relu,
                dropout: Dropout,
                head: Linear,
            }

            impl Model {
                pub fn new(device: &Device) -> Self {
                    let conv = Conv2dConfig::new([2, 6], [3, 3]);
                    let head = LinearConfig::new(6, 3);
                    Self {
                        conv: conv.with_padding(PaddingConfig2d::Same).init(device),
                        volume: None,
                        norm: BatchNormConfig::new(6).init(device),
                        slope: PReluConfig::new().with_num_parameters(6).init(device),
                        groups: GroupNormConfig::new(2, 6).init(device),
                        gelu: Gelu::new(),
                        pool: AdaptiveAvgPool2dConfig::new([1, 1]).init(),
                        relu: Relu::new(),
                        dropout: DropoutConfig::new(0.5).init(),
                        head: head.with_initializer(Initializer::Ones).init(device),
                    }
                }

                pub fn forward(&self, x: Tensor<4>) -> Tensor<2> {
                    let x = self.slope.forward(self.norm.forward(self.conv.forward(x)));
                    let x = self.gelu.forward(self.groups.forward(x));
                    let x = self.relu.forward(self.pool.forward(x));
                    self.head.forward(self.dropout.forward(x.flatten(1, 3)))
                }
            }
        }
    };
}

model!(of_burn, burn::nn);
model!(of_ours, bayesadapter::nn);

#[test]
fn a_model_changes_its_imports_and_nothing_else() {
    let device = Device::flex();
    let burns = of_burn::Model::new(&device);
    let ours = of_ours::Model::new(&device).load_record(burns.clone().into_record());
    let x = normals([3, 2, 6, 5], 1, &device);
    let expected = values(burns.forward(x.clone()));
    let tolerance = Tolerance::of_largest(2e-5, &expected);
    assert_close("logits", &values(ours.forward(x)), &expected, tolerance);

    let burns = burns.into_bayes(MeanField::fine_tune(10)).unwrap();
    let ours = ours.into_bayes(MeanField::fine_tune(10)).unwrap();
    let mut of_burn = burns.account().converted.iter();
    assert!(of_burn.all(Conversion::is_vanilla_only));
    let mut of_ours = ours.account().converted.iter();
    assert!(!of_ours.any(Conversion::is_vanilla_only));
}
