"""Logs whose labels are not English."""

import pytest

from diagnosis.formats.tongues import in_english
from tests.diagnosis.formats.reading import losses, reader_of, samples

STEPS = [
    "エポック: {e}, ステップ: {n}, 損失: {l}, 学習率: 0.001",
    "[에폭 {e}/10] 배치 {n}/500 손실: {l} 학습률: 1e-3",
    "轮次: {e}/10, 步数: {n}/500, 损失值: {l}, 学习率: 0.001, 耗时: 3.2s",
    "[訓練] 輪次 {e} 步數 {n}/500 損失：{l} 學習率：0.001",
    "Эпоха {e}, шаг {n}/500: потери = {l}, скорость обучения = 0.001",
    "Dönem: {e} Adım {n}: kayıp = {l}, öğrenme oranı = 0.001",
    "Época {e}, paso {n}/500, pérdida: {l}, tasa de aprendizaje: 0.001",
    "Epoch {e} bước {n}/500 | mất mát: {l} | lr: 0.001",
]
EPOCHS = [
    "エポック {e}/10 訓練損失: {l} 検証損失: 9.5 訓練精度: 0.8",
    "Epoch {e} 완료 - 학습 손실: {l}, 검증 손실: 9.5",
    "2024-01-01 12:00:00 - 第{e}轮训练完成，训练损失：{l}，验证损失：9.5，准确率：0.8",
    "Época {e}/10 - pérdida: {l} - exactitud: 0.81 - val_pérdida: 9.5",
    "Epoch {e} | Loss huấn luyện: {l} | Loss kiểm tra: 9.5",
]


@pytest.mark.parametrize("line", STEPS)
def test_steps_losses_and_rates_are_read_in_other_languages(line):
    """With their counters, which here do not begin again."""
    text = "".join(line.format(e=1, n=n, l=4 - n / 100) + "\n" for n in (100, 200, 300))

    reader, seen = reader_of(text)

    assert losses(seen) == [(100, 3.0), (200, 2.0), (300, 1.0)]
    assert [one.lr for one in samples(seen)] == [0.001] * 3
    assert reader.unread.count == 0


@pytest.mark.parametrize("line", EPOCHS)
def test_the_loss_of_an_evaluation_is_known_in_other_languages(line):
    """The training's stands in front of it."""
    text = "".join(line.format(e=e, l=3 - e / 4) + "\n" for e in (1, 2, 3))

    assert [loss for _, loss in losses(reader_of(text)[1])] == [2.75, 2.5, 2.25]


@pytest.mark.parametrize(
    "line", ["验证 步数: {} 损失: {}", "[検証] ステップ: {} 損失: {}", "검증 스텝 {} 손실 {}", "步数: {} 验证损失: {}"]
)
def test_an_evaluation_alone_is_no_training(line):
    """Whatever it is called."""
    assert losses(reader_of("".join(line.format(n, 2.5) + "\n" for n in (100, 200)))[1]) == []


@pytest.mark.parametrize(
    ("key", "english"),
    [
        ("训练损失", "train loss"),
        ("剩余步数", "剩余步数"),
        ("同步耗时", "同步耗时"),
        ("总步数", "max_steps"),
        ("损失函数", "损失函数"),
        ("目前最佳损失", "current best loss"),
        ("val_pérdida", "val_loss"),
        ("Taux d'apprentissage", "Taux d'apprentissage"),
    ],
)
def test_only_a_whole_run_of_known_words_is_translated(key, english):
    """The steps that are left are no step, and what is ASCII has its own names."""
    assert in_english(key) == english
