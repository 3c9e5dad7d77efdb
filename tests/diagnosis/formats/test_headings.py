"""Losses without a counter, under headings that say whose they are: the tutorials that everybody began with."""

import pytest

from tests.diagnosis.formats.reading import attempts, losses, read, reader_of, samples

EPOCHS = [
    "Epoch {e}/24\n----------\ntrain Loss: {l} Acc: 0.7213\nval Loss: 9.2123 Acc: 0.9150\n\n",
    "Epoch {e}/50\n  Train Loss: {l}\n  Val Loss: 9.6523\n  Val Acc: 0.7234\n\n",
    "Epoch {e}/10\nTraining\nLoss: {l} Acc: 0.5\nValidation\nLoss: 9.5 Acc: 0.6\n",
    "=== Epoch {e} ===\nloss: {l}\n--- Testing ---\nloss: 9.5\n",
    "Epoch [{e}/100] 完成 (耗时: 8.5s)\n  训练损失: {l}\n  验证损失: 9.098\n  *** 新的最佳模型! 验证损失: 9.098 ***\n",
    "Epoch {e} 总结:\n  训练损失: {l} | 训练 Dice: 0.7856\n  验证损失: 9.2987 | 验证 Dice: 0.8123\n",
    (
        "Epoch {e} [训练中]: 100%|███| 625/625 [01:53<00:00,  5.53it/s]\n"
        "Epoch {e} [评估中]: 100%|███| 467/467 [00:29<00:00, 16.02it/s]\n"
        "Epoch {e}/5 | 训练损失: {l} | 验证集准确率: 0.8738\n"
    ),
    "第{e}轮\n训练\n损失: {l}\n验证\n损失: 9.5000\n",
    "에포크 {e}/50 완료 - 손실: {l}, 정확도: 0.451\n에포크 2/50 시작\n",
    "epoch={e} tr_loss={l} va_loss=9.5 lr=0.001\n",
]


@pytest.mark.parametrize("epoch", EPOCHS)
def test_an_epoch_over_several_lines_tells_the_training_s_loss(epoch):
    """The evaluation's stands in another line, or under another heading."""
    seen = read("".join(epoch.format(e=e, l=f"{3 - e / 4:.4f}") for e in (1, 2, 3)))

    assert [loss for _, loss in losses(seen)] == [2.75, 2.5, 2.25]


def test_an_evaluation_whose_heading_comes_late_is_none_of_many_losses():
    """Also when it looks like the hundred lines before it."""
    epoch = "Train\n" + "".join(f"loss: {3 - n / 100:.2f}\n" for n in range(100)) + "Eval:\nloss: 9.5\nloss: 9.4\n"

    seen = losses(read(epoch * 3))

    assert len(seen) == 300
    assert max(loss for _, loss in seen) == 3.0


def test_a_counter_of_samples_behind_the_loss_goes_on_through_the_epochs():
    """PyTorch's first tutorial, whose epochs have a heading."""
    text = "".join(
        f"Epoch {epoch}\n-------------------------------\n"
        + "".join(f"loss: 2.{epoch}  [{n:5d}/60000]\n" for n in range(64, 60000, 6400))
        + "Test Error: \n Accuracy: 44.7%, Avg loss: 9.154\n\n"
        for epoch in (1, 2)
    )

    reader, seen = reader_of(text)

    assert [step for step, _ in losses(seen)] == [*range(64, 60000, 6400), *range(60064, 120000, 6400)]
    assert reader.unread.count == 0


@pytest.mark.parametrize(
    "heading", ["epoch {e}/5", "INFO - Epoch: {e}", "===== Epoch {e} =====", "第 {e} 轮", "Epoch {e}/5 "]
)
@pytest.mark.parametrize("line", ["{n}/10, train_loss: {l}", "step {n}/10 loss {l} lr 1e-4", "iter {n}: loss {l}"])
def test_a_counter_that_begins_again_below_an_epoch_s_heading_goes_on(heading, line):
    """MONAI's tutorials: no attempt begins with an epoch, and its length is no end of the run."""
    text = "".join(
        f"----------\n{heading.format(e=e)}\n"
        + "".join(line.format(n=n, l=f"{3 - e / 4 - n / 100:.4f}") + "\n" for n in range(1, 11))
        + f"epoch {e} average loss: {3 - e / 4:.4f}\n"
        for e in (1, 2, 3)
    )

    reader, seen = reader_of(text)

    assert [step for step, _ in losses(seen)] == list(range(1, 31))
    assert attempts(seen) == []
    assert reader.unread.count == 0
    assert all("total_steps" not in one.fields for one in samples(seen))


def test_a_run_that_begins_again_with_its_first_epoch_is_another_attempt():
    """Its heading tells no later epoch."""
    run = "".join(f"epoch {e}/5\n" + "".join(f"step {n} loss 2.5\n" for n in range(1, 11)) for e in (1, 2))

    seen = read(run + run)

    assert [step for step, _ in losses(seen)] == [*range(1, 21), *range(1, 21)]
    assert len(attempts(seen)) == 1


@pytest.mark.parametrize("name", ["Epoch 1/15 [VAL]", "[Val] Epoch 1", "Epoch 1/30 [验证]", "검증 1"])
def test_the_bar_of_an_evaluation_is_no_training(name):
    """Though it tells a loss."""
    bar = f"{name}: {{}}%|███| {{}}/50 [00:28<00:00,  1.08it/s, loss=9.5]\n"

    assert losses(read("".join(bar.format(2 * n, n) for n in (10, 20, 50)))) == []


EVALUATES = ["Validation", "--- Testing ---", "Test Error:", "Running evaluation...", "Evaluating on the test set",
             "Validation results:", "Starting validation epoch", "开始验证", "验证集结果：", "=== 검증 결과 ===",
             "Тестирование", "検証中..."]  # fmt: skip
TELLS_ONCE = ["Test dataset loaded", "Testing CUDA", "Dev mode", "Evaluation: off", "Evaluation disabled",
              "Validation split ready", "Test passed", "Testing GPU connection... ok", "eval dataloader ready.",
              "test set size", "加载测试集", "테스트 데이터 로드 완료", "загрузка тестовой выборки"]  # fmt: skip


@pytest.mark.parametrize("heading", EVALUATES)
def test_losses_below_the_heading_of_an_evaluation_are_no_training(heading):
    """Until the training has its own again."""
    text = f"Training\nloss: 2.75\nloss: 2.5\n{heading}\nloss: 9.5\nTraining\nloss: 2.25\n"

    assert [loss for _, loss in losses(read(text))] == [2.75, 2.5, 2.25]


@pytest.mark.parametrize("line", TELLS_ONCE)
def test_a_line_that_only_speaks_of_an_evaluation_hides_no_training(line):
    """Sets are loaded and devices tested before the first step; no heading comes after it."""
    text = f"Train\n{line}\n" + "".join(f"loss: {3 - n / 4}\n" for n in range(4))

    assert [loss for _, loss in losses(read(text))] == [3.0, 2.75, 2.5, 2.25]


@pytest.mark.parametrize("first", ["", "Starting training\n", "Train dataset loaded\n", "Training started...\n"])
def test_an_evaluation_that_no_heading_ends_hides_no_training(first):
    """A script that names only its evaluations goes on unnamed."""
    text = first + "".join(f"loss: {9 - n / 100:.2f}\n" + ("Validation\n" if n % 50 == 25 else "") for n in range(200))

    assert len(losses(read(text))) == 200


def test_an_evaluation_does_not_go_on_for_ever():
    """Where `Training` was told once and many losses come behind an evaluation, they are the training's."""
    text = "Training\nloss: 3.5\nValidation\n" + "loss: 2.5\n" * 2000 + "Validation\n" + "loss: 2.5\n" * 2000

    assert len(losses(read(text))) > 3000
