//! Arguments that cannot be computed are refused with what is wrong, on every device.

use bayesadapter::ops::{
    Conv2dWeights, ConvOptions, DrawAxis, GeometryError, MatmulWeights, NoiseKey, OpError,
    exemplar_conv2d, exemplar_matmul, sample_gaussian, sample_low_rank,
};
use bayesadapter_tests::devices;
use burn::tensor::{DType, Device, Tensor};

fn gaussian(shape: [usize; 2], device: &Device) -> MatmulWeights {
    MatmulWeights::Gaussian {
        mu: Tensor::zeros(shape, device),
        psi: Tensor::zeros(shape, device),
        key: NoiseKey::default(),
    }
}

fn kernels(shape: [usize; 5], index: Vec<u32>, device: &Device) -> Conv2dWeights {
    Conv2dWeights::Given {
        weights: Tensor::ones(shape, device),
        index,
    }
}

fn refused<T>(result: Result<T, OpError>) -> OpError {
    match result {
        Ok(_) => panic!("this should have been refused"),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            error
        }
    }
}

#[test]
fn shapes_that_do_not_fit() {
    for (_, device) in devices() {
        let x = Tensor::<3>::ones([2, 1, 3], &device);
        let error = refused(exemplar_matmul(x.clone(), gaussian([4, 5], &device), None));
        let expected = OpError::Shape {
            what: "mu",
            expected: vec![3, 5],
            found: vec![4, 5],
        };
        assert_eq!(error, expected);
        let bias = Tensor::ones([1, 5], &device);
        let error = refused(exemplar_matmul(x, gaussian([3, 5], &device), Some(bias)));
        assert!(matches!(error, OpError::Shape { what: "bias", .. }));
    }
}

#[test]
fn types_other_than_f32() {
    let device = Device::flex();
    let x = Tensor::<3>::ones([2, 1, 3], &device).cast(DType::F64);
    let error = refused(exemplar_matmul(x, gaussian([3, 5], &device), None));
    let expected = OpError::DType {
        what: "x",
        found: DType::F64,
    };
    assert_eq!(error, expected);
}

#[test]
fn tensors_on_two_devices() {
    let [(_, cpu), (_, wgpu)] = &devices()[..] else {
        panic!("the CPU and one adapter");
    };
    let x = Tensor::<3>::ones([2, 1, 3], cpu);
    let error = refused(exemplar_matmul(x, gaussian([3, 5], wgpu), None));
    assert!(matches!(error, OpError::Device { what: "mu", .. }));
}

#[test]
fn slots_that_do_not_exist() {
    for (_, device) in devices() {
        let x = Tensor::<4>::ones([2, 1, 4, 4], &device);
        let call = |index| {
            let weights = kernels([3, 1, 1, 2, 2], index, &device);
            refused(exemplar_conv2d(
                x.clone(),
                weights,
                None,
                ConvOptions::default(),
            ))
        };
        let expected = OpError::Index {
            position: 1,
            slot: 3,
            count: 3,
        };
        assert_eq!(call(vec![2, 3]), expected);
        let expected = OpError::IndexLength {
            expected: 2,
            found: 1,
        };
        assert_eq!(call(vec![0]), expected);
    }
}

#[test]
fn geometry_without_an_output() {
    for (_, device) in devices() {
        let x = Tensor::<4>::ones([1, 4, 2, 2], &device);
        let call = |shape, options| {
            let weights = kernels(shape, vec![0], &device);
            refused(exemplar_conv2d(x.clone(), weights, None, options))
        };
        let plain = ConvOptions::default();
        let too_large = GeometryError::KernelTooLarge {
            kernel: [3, 3],
            padded: [2, 2],
        };
        assert_eq!(call([1, 4, 4, 3, 3], plain), too_large.into());
        let groups = ConvOptions { groups: 3, ..plain };
        let error = call([1, 3, 1, 1, 1], groups);
        assert!(matches!(
            error,
            OpError::Geometry(GeometryError::Groups { groups: 3, .. })
        ));
        let stride = ConvOptions {
            stride: [0, 1],
            ..plain
        };
        let error = call([1, 4, 4, 1, 1], stride);
        assert!(matches!(
            error,
            OpError::Geometry(GeometryError::Zero { .. })
        ));
    }
}

#[test]
fn nothing_to_compute() {
    for (_, device) in devices() {
        let x = Tensor::<3>::empty([0, 1, 3], &device);
        let error = refused(exemplar_matmul(x, gaussian([3, 5], &device), None));
        assert_eq!(error, OpError::Empty { what: "the batch" });
        let (mu, psi) = (
            Tensor::<1>::zeros([3], &device),
            Tensor::zeros([3], &device),
        );
        let key = NoiseKey::default();
        let draws = sample_gaussian::<1, 2>(mu, psi, key, DrawAxis::Draw, 0);
        assert!(matches!(refused(draws), OpError::Empty { .. }));
        let shared = Tensor::<2>::ones([3, 5], &device);
        let left = Tensor::ones([2, 3, 1], &device);
        let right = Tensor::ones([2, 1, 5], &device);
        let draws = sample_low_rank::<2, 3>(shared, left, right, &[]);
        assert!(matches!(refused(draws), OpError::Empty { .. }));
    }
}
