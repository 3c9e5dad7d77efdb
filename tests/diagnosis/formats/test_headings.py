"""Losses without a counter, under headings that say whose they are: the tutorials that everybody began with."""

import pytest

from tests.diagnosis.formats.reading import losses, read, reader_of

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


@pytest.mark.parametrize("name", ["Epoch 1/15 [VAL]", "[Val] Epoch 1", "Epoch 1/30 [验证]", "검증 1"])
def test_the_bar_of_an_evaluation_is_no_training(name):
    """Though it tells a loss."""
    bar = f"{name}: {{}}%|███| {{}}/50 [00:28<00:00,  1.08it/s, loss=9.5]\n"

    assert losses(read("".join(bar.format(2 * n, n) for n in (10, 20, 50)))) == []
