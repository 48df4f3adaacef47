"""The training phase: one optimizer step after another, each a function of the seed and its number alone.

Shapes: R rows, S tokens, N blocks, B slots a block, E hidden width, M counted slots, V vocabulary.
"""

import hashlib
import math
import time
from pathlib import Path
from typing import Any

import torch
from torch.optim import AdamW

from trainer import checkpoint, report
from trainer.attention import Blocks, Kernel, kernel
from trainer.config import OptimizationConfig
from trainer.data import Rows
from trainer.drafter import Drafter
from trainer.errors import DivergedError
from trainer.objective import Score, block_labels, block_states, draw_anchors, score, seeded
from trainer.progress import Progress
from trainer.resuming import contract
from trainer.session import Session, Totals
from trainer.target import Target


def train(session: Session, target: Target, rows: Rows) -> Drafter:
    """Train to `train.steps` and return the drafter as exported, read back from its last checkpoint.

    A resumed run that was stopped after its last step has only its evaluation left.

    Raises StoppedError after saving, when a stop was asked for; DivergedError when the loss is not finite.
    """
    config, totals, settings = session.config, session.totals, session.config.train
    drafter, optimizer = build(session, target)
    data = hashlib.sha256(rows.token_MS.numpy().tobytes() + rows.supervised_MS.numpy().tobytes()).hexdigest()[:16]
    if settings.resume:
        expected = contract(config, data)
        totals.step, totals.checkpoint = (
            checkpoint.restore(Path(settings.resume), drafter, optimizer, expected),
            settings.resume,
        )
        session.events.emit("resume", step=totals.step, checkpoint=settings.resume)
    attention, shown = kernel(config.attention), Smooth()
    progress = Progress("training", settings.steps, done=totals.step)
    first, since = totals.step + 1, time.perf_counter()
    while totals.step < settings.steps:
        judged = train_step(session, target, drafter, optimizer, attention, rows)
        totals.step += 1
        totals.loss = judged.loss.item()
        if not math.isfinite(totals.loss):
            raise DivergedError(
                f"the loss is {totals.loss} at step {totals.step}", "lower train.learning_rate or raise train.warmup"
            )
        totals.steady_seconds = time.perf_counter() - since
        if totals.step == first:
            session.events.emit("first_step", step=totals.step, seconds=report.rounded(totals.steady_seconds))
            totals.restart_rates()
            since = time.perf_counter()
        shown.add(judged)
        progress.update(totals.step, *shown.parts(totals))
        last = totals.step == settings.steps
        if last or totals.step % settings.log_every == 0:
            figures = report.step(totals, judged)
            session.events.emit(
                "step", step=totals.step, rate=report.rounded(rate_at(settings, totals.step - 1), 8), **figures
            )
        if last or totals.step % settings.checkpoint_every == 0 or session.stop.requested:
            _save(session, drafter, optimizer, target, data)
        if session.stop.requested and not last:
            progress.leave()
            session.stop.check()
    return checkpoint.load_drafter(Path(totals.checkpoint or ""), drafter.shape, compute_dtype(session), config.device)


def build(session: Session, target: Target) -> tuple[Drafter, AdamW]:
    """A freshly initialised drafter with fp32 weights, which are the masters, and its optimizer."""
    config, settings = session.config, session.config.train
    drafter = Drafter(target.shape(config.drafter))
    drafter.initialize(config.seed)
    drafter.to(config.device)
    optimizer = AdamW(
        drafter.parameters(),
        betas=(0.9, settings.beta2),
        weight_decay=settings.weight_decay,
        fused=config.device == "cuda",
    )
    return drafter, optimizer


def untrained(session: Session, target: Target) -> Drafter:
    """The drafter that training began from, for comparison."""
    drafter, _ = build(session, target)
    return drafter.to(compute_dtype(session)).eval().requires_grad_(False)


def compute_dtype(session: Session) -> torch.dtype:
    """The dtype that activations have; masters and moments are fp32 whatever it is."""
    dtype: torch.dtype = getattr(torch, session.config.precision)
    return dtype


def train_step(
    session: Session, target: Target, drafter: Drafter, optimizer: AdamW, attention: Kernel, rows: Rows
) -> Score:
    """One optimizer step on the rows, anchors and rate that belong to `totals.step`."""
    config, totals = session.config, session.totals
    settings, shape, step = config.train, config.drafter, totals.step
    batch = rows.batch(step, settings.rows, config.seed)
    token_RS, supervised_RS, document_RS, position_RS = (part.to(config.device) for part in batch)
    draw = seeded(config.seed, "anchors", step)
    anchor_RN, keep_RN = draw_anchors(supervised_RS, document_RS, settings.anchors, draw)
    label_RNP, counts_RNP = block_labels(token_RS, supervised_RS, document_RS, anchor_RN, keep_RN, shape.block_size)
    blocks = Blocks(anchor_RN, keep_RN, document_RS, shape.block_size)
    with torch.autocast(config.device, torch.bfloat16, enabled=config.precision == "bfloat16"):
        states_RNBE = block_states(target, drafter, token_RS, position_RS, blocks, shape.mask_token_id, attention)
        logits_MV = target.head(states_RNBE[:, :, 1:][counts_RNP])
    judged = score(logits_MV, label_RNP, counts_RNP, settings.gamma)
    optimizer.zero_grad()
    judged.loss.backward()
    torch.nn.utils.clip_grad_norm_(drafter.parameters(), settings.clip_norm)
    for group in optimizer.param_groups:
        group["lr"] = rate_at(settings, step)
    optimizer.step()
    totals.tokens += int((document_RS >= 0).sum())
    totals.supervised += judged.supervised_tokens
    totals.anchors += judged.blocks
    return judged


def rate_at(settings: OptimizationConfig, step: int) -> float:
    """Learning rate of a step: linear warm-up, then half a cosine down to `final_rate` of the peak."""
    warm = round(settings.warmup * settings.steps)
    if step < warm:
        return settings.learning_rate * (step + 1) / warm
    along = (step - warm) / max(1, settings.steps - warm)
    height = (1 + math.cos(math.pi * along)) / 2
    return settings.learning_rate * (settings.final_rate + (1 - settings.final_rate) * height)


def _save(session: Session, drafter: Drafter, optimizer: AdamW, target: Target, data: str) -> None:
    totals, parent = session.totals, session.folder / "checkpoints"
    path = parent / f"step-{totals.step}"
    checkpoint.save(path, drafter, optimizer, totals.step, session.config, target, data)
    totals.checkpoint = str(path)
    checkpoint.keep_newest(parent, session.config.train.keep)
    session.events.emit("checkpoint", step=totals.step, path=totals.checkpoint)


class Smooth:
    """A running view of loss and simulated accepted length, for the eye."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {"weight": 0.0, "loss": 0.0, "accepted": 0.0}

    def add(self, judged: Score) -> None:
        """Take one step in."""
        now: dict[str, Any] = {
            "weight": 1.0,
            "loss": judged.loss.item(),
            "accepted": judged.accepted / max(1, judged.blocks),
        }
        self._sums = {name: 0.95 * value + 0.05 * now[name] for name, value in self._sums.items()}

    def parts(self, totals: Totals) -> tuple[str, ...]:
        """The parts of the progress line that belong to training, the most telling first."""
        loss, accepted = (self._sums[name] / self._sums["weight"] for name in ("loss", "accepted"))
        rate = report.rates(totals)["context_tokens_per_s"] / 1000
        return f"loss {loss:.3f}", f"accepted {accepted:.2f} simulated", f"{rate:4.1f} ktok/s"
