"""Train and write the carried target: `python -m trainer.sample.make_target FOLDER` (a quarter of an hour).

Everything is seeded and runs on one thread, so the same torch and transformers write the same bytes again on the same
kind of CPU. `digests.txt`, written beside the folder, lists what is committed. At the end 64 held-out questions are
asked; the carried target answers 50 of them exactly.
"""

import hashlib
import math
import random
import sys
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from trainer.sample.chat import conversations

USER, ASSISTANT, END, PAD, MASK, VOCABULARY = 256, 257, 258, 259, 300, 320
SPECIALS = ("<|user|>", "<|assistant|>", "<|end|>", "<|pad|>")
TEMPLATE = """\
{%- for message in messages -%}
{%- if message.role == 'assistant' -%}
<|assistant|>{%- generation -%}{{ message.content }}<|end|>{%- endgeneration -%}
{%- else -%}
<|user|>{{ message.content }}<|end|>
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}
"""
SEED, STEPS, BATCH, PEAK, WARMUP = 11, 1800, 32, 4e-3, 60


def write_tokenizer(folder: Path) -> None:
    """Write a byte-level tokenizer (id = byte value, then four specials) that AutoTokenizer loads offline."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in printable]
    letter = {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(hidden)}
    tokenizer = Tokenizer(models.BPE(vocab={letter[byte]: byte for byte in range(256)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIALS])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|end|>",
        pad_token="<|pad|>",
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)


def untrained() -> Qwen3ForCausalLM:
    """The 0.73 M parameter architecture with seeded random weights."""
    torch.manual_seed(SEED)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=VOCABULARY,
            hidden_size=96,
            intermediate_size=256,
            num_hidden_layers=6,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=32,
            max_position_embeddings=1024,
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
            tie_word_embeddings=False,
            bos_token_id=None,
            eos_token_id=END,
            pad_token_id=PAD,
        )
    )


def encode(messages: list[dict[str, str]]) -> tuple[list[int], list[int]]:
    """Token ids of a conversation and its labels: -100 outside the assistant's words and their <|end|>."""
    ids: list[int] = []
    labels: list[int] = []
    for message in messages:
        text = [*message["content"].encode(), END]
        assistant = message["role"] == "assistant"
        ids += [ASSISTANT if assistant else USER, *text]
        labels += [-100, *(text if assistant else [-100] * len(text))]
    return ids, labels


def train(model: Qwen3ForCausalLM) -> None:
    """Train in place by AdamW on fresh conversations, the loss on assistant tokens alone."""
    samples = [encode(messages) for messages in conversations(STEPS * BATCH, SEED, "train")]
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK, betas=(0.9, 0.95), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda t: min(1.0, (t + 1) / WARMUP) * (0.02 + 0.98 * (1 + math.cos(math.pi * t / STEPS)) / 2)
    )
    pools = [samples[i : i + 8 * BATCH] for i in range(0, len(samples), 8 * BATCH)]
    batches = [
        sorted(pool, key=lambda s: len(s[0]))[i : i + BATCH] for pool in pools for i in range(0, len(pool), BATCH)
    ]
    random.Random(SEED).shuffle(batches)
    for step, batch in enumerate(batches):
        width = max(len(ids) for ids, _ in batch)
        ids_BS = torch.tensor([ids + [PAD] * (width - len(ids)) for ids, _ in batch])
        labels_BS = torch.tensor([labels + [-100] * (width - len(labels)) for _, labels in batch])
        logits_BSV = model(input_ids=ids_BS, use_cache=False).logits
        loss = cross_entropy(logits_BSV[:, :-1].flatten(0, 1), labels_BS[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 50 == 0 or step == len(batches) - 1:
            print(f"target step {step}/{len(batches)} loss {loss.item():.3f}", flush=True)


def answered(model: Qwen3ForCausalLM, number: int) -> tuple[int, list[str]]:
    """How many of `number` held-out questions are answered exactly by greedy decoding, and the answers."""
    right, answers = 0, []
    for question, reply in conversations(number, SEED, "heldout"):
        prompt = torch.tensor([[USER, *question["content"].encode(), END, ASSISTANT]])
        out = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=120, do_sample=False)
        answers.append(bytes(i for i in out[0, prompt.shape[1] :].tolist() if i < 256).decode(errors="replace"))
        right += answers[-1] == reply["content"]
    return right, answers


def digests(folder: Path) -> str:
    """One line a file of the folder, `sha256  name`, sorted by name."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


def main(folder: Path) -> None:
    """Train, judge and write the target folder, and the digest listing beside it."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    model = untrained()
    train(model)
    model.to(torch.bfloat16)
    model.save_pretrained(folder)
    write_tokenizer(folder)
    (folder.parent / "digests.txt").write_text(digests(folder))
    right, answers = answered(model.float().eval(), 64)
    print("\n".join(answers[:12]))
    print(f"{right} of 64 held-out questions answered exactly")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
