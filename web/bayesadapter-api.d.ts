/** Pixels row by row, one byte each: grey, RGB or RGBA. An `ImageData` of a canvas is one. */
export interface Pixels {
  width: number;
  height: number;
  data: Uint8Array | Uint8ClampedArray;
}

export interface Prediction {
  /** Of every class, averaged over the draws. */
  probabilities: Float32Array;
  /** Mutual information in nats: how much the draws disagree, which is what the network does not know. */
  mi: number;
  /** Entropy of the averaged probabilities in nats: all uncertainty. */
  entropy: number;
  /** The probabilities of every draw, without a temperature. */
  draws: Float32Array[];
  /**
   * Classes that the image may be, from the most probable on, where the file has a calibration: such a set holds the true
   * class of as many images as it was calibrated for (90 % by default), on images like those of the validation set.
   */
  predictionSet?: string[];
}

export interface PredictOptions {
  /** Whether the temperature that was fitted on the validation set is applied, where the file has one: true by default. */
  temperature?: boolean;
}

export interface Network {
  /** Names of the classes, in the order of the probabilities. */
  classes: string[];
  /**
   * What the network says of a picture, which is scaled and cropped to what it takes. The same draws are the same
   * networks here, in the window and on the command line. Point weights have no draws, and answer once. There are 20
   * draws unless another number up to 4096 is given; a picture or number that cannot be used is a `RangeError`.
   */
  predict(image: Pixels, draws?: number, options?: PredictOptions): Promise<Prediction>;
  /** Gives its memory back. */
  free(): void;
}

export interface LoadOptions {
  /** What computes: the CPU unless WebGPU is asked for, which starts slower and is faster for larger networks. */
  device?: "cpu" | "webgpu";
}

/** Opens the content of a posterior file; throws an `Error` that says what is wrong with it, or with the device. */
export function load(posteriorBytes: ArrayBuffer | Uint8Array, options?: LoadOptions): Promise<Network>;
