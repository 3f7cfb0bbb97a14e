#!/usr/bin/env bash
# Files that version 0.1 wrote, and what it made of them: `version_0_1.rs` reads them with the library of today.
#
# usage: make_version_0_1.sh PROGRAM
#
# PROGRAM is that of commit 4219c73, the last one before format version 2:
#   git worktree add OLD 4219c73 && cd OLD && cargo build --release
# It covers no convolution and no batch normalisation: the networks are small, so that their files are.
set -euo pipefail
program=$(realpath "$1")
out=$(realpath "$(dirname "${BASH_SOURCE[0]}")")/version_0_1
mkdir -p "$out"
# Posterior files name the weights that they began with: a place that says nothing of who made them.
work=/tmp/bayesadapter-0.1
mkdir "$work"
trap 'rm -r "$work"' EXIT
cd "$work"

"$program" pretrain --model mlp --data few-digits --epochs 20 --batch 32 --device cpu --out map --quiet
# 28 steps: their quarters, at which the learning rate of the factors falls, are whole numbers, and so the same today.
finetune() {
    "$program" finetune --model mlp --weights map/posterior.safetensors --data few-digits --epochs 4 --batch 64 \
        --device cpu --quiet "$@"
}
finetune --posterior pse --components 3 --rank 2 --out pse
finetune --posterior mfg --out mfg
cp pse/posterior.safetensors "$out/pse.safetensors"
cp mfg/posterior.safetensors "$out/mfg.safetensors"
cp pse/run.toml "$out/pse.toml"
cp pse/checkpoints/step-000000021.safetensors "$out/pse-state.safetensors"
"$program" export pse/posterior.safetensors --out "$out/pse-mean.safetensors" --quiet
"$program" evaluate "$out"/{pse,mfg}.safetensors --data few-digits --device cpu --json |
    grep '"event":"judged"' | sed "s|$out/||" >"$out/evaluated.jsonl"
