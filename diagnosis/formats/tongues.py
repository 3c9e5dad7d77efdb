"""What keys are called in other languages: `训练损失` is `train loss`, `öğrenme oranı` is `lr`, `검증` is `val`.

Chinese and Japanese write words without blanks between them, so a run of words we know is translated; one with a word
we do not know (`剩余步数`, the steps that are left) stays as it is.
"""

import re

_WORDS = {
    "train": "训练 訓練 学習 훈련 학습 обучение обучения обучении обучающая entraînement eğitim huấn_luyện",
    "val": "验证 驗證 検証 검증 валидация валидации validación validação doğrulama xác_thực kiểm_định",
    "test": "测试 測試 テスト 테스트 тест kiểm_tra",
    "eval": "评估 評估 評価 평가 évaluation",
    "loss": "损失值 损失 損失值 損失 ロス 손실 로스 потери потеря лосс втрати pérdida kayıp mất_mát",
    "step": "步数 步數 步 ステップ 스텝 шаг крок étape adım bước",
    "iter": "迭代次数 迭代次數 迭代 イテレーション 反復 반복 итерация itération yineleme",
    "epoch": "轮次 轮数 輪次 轮 輪 エポック 에포크 에폭 эпоха эпохи époque época",
    "batch": "批次 バッチ 배치 батч",
    "lr": "学习率 學習率 学習率 학습률 скорость_обучения taux_d'apprentissage öğrenme_oranı tốc_độ_học",
    "grad_norm": "梯度范数 梯度範數 勾配ノルム норма_градиента",
    "train_step": "训练次数 训练步数 訓練次數",
    "max_steps": "总步数 總步數 総ステップ数 총_스텝",
    "max_epochs": "总轮数 总轮次 總輪數 総エポック数 총_에폭",
    "avg": "平均 평균 средняя средние",
    "total": "总 總 合計 총 общая",
    "current": "当前 目前 現在 현재 текущая",
    "perplexity": "困惑度",
    "best": "最佳 最好 最低 最小 最良 최고 최저 лучшая",
}
_ENGLISH = {word.replace("_", " "): english for english, words in _WORDS.items() for word in words.split()}
_PART = "|".join(map(re.escape, sorted(_ENGLISH, key=len, reverse=True)))
_ONE = re.compile(_PART)
_RUN = re.compile(rf"(?<![^\W_])(?:{_PART})+(?![^\W_])")
_EVALUATES = re.compile(
    "|".join(word for word, english in _ENGLISH.items() if english in ("val", "test", "eval")), re.IGNORECASE
)
_BESIDE = (
    "开始 開始 正在 进行 進行 结果 結果 阶段 階段 模型 指标 指標 误差 誤差 性能 集 中 在 上 的 の "
    "セット フェーズ モデル 시작 결과 단계 모델 세트 중 "
    "ирование ирования результаты модели на выборке выборка sonuçları kết_quả bắt_đầu"
)
"""What may stand beside such a word in a heading; who loads or prepares a set evaluates nothing yet."""
_EVALUATION_HEADING = re.compile(
    rf"(?:{_EVALUATES.pattern}|{_BESIDE.replace(' ', '|').replace('_', ' ')}|[\W_])+", re.IGNORECASE
)
_LONGER = {word.replace("_", " ") for word in (*_ENGLISH, *_BESIDE.split()) if len(word) > 1 and not word.isascii()}
_ANY_WORD = re.compile("|".join(map(re.escape, sorted(_LONGER, key=len, reverse=True))))
_NUMBERED = {
    "epoch": re.compile(r"第 ?(\d{1,6}) ?(?:/ ?\d{1,6} ?)?(?:个? ?(?:轮|輪|epoch)|エポック)"),
    "step": re.compile(r"第 ?(\d{1,12}) ?(?:步|次迭代|个?批次|ステップ)"),
}


def in_english(key: str) -> str:
    """The key in lower case with the words we know in English; an English key stays as it is."""
    if key.isascii():
        return key
    translated = _RUN.sub(lambda run: _ONE.sub(lambda part: f" {_ENGLISH[part[0]]} ", run[0]), key.lower())
    return " ".join(translated.replace("_ ", "_").split())


def evaluates(text: str, start: int, end: int) -> bool:
    """True when a word of another language in this part of a line says that it tells of an evaluation."""
    return not text.isascii() and _EVALUATES.search(text, start, end) is not None


def is_evaluation_heading(text: str) -> bool:
    """True for a line of another language that says nothing but that an evaluation follows."""
    return evaluates(text, 0, len(text)) and _EVALUATION_HEADING.fullmatch(text) is not None


def count_words(text: str) -> int:
    """How many words of other languages that we know stand in a text; single letters are chance."""
    return len(_ANY_WORD.findall(text.lower()))


def numbered(text: str) -> dict[str, tuple[int, int]]:
    """Where `第3轮` and `第100步` tell epoch and step."""
    places = {name: place.search(text) for name, place in _NUMBERED.items()} if "第" in text else {}
    return {name: place.span(1) for name, place in places.items() if place is not None}


def epoch_in(text: str) -> int | None:
    """The 3 of `----- 第 3 轮训练开始 -----`, or None."""
    place = numbered(text).get("epoch")
    return int(text[slice(*place)]) if place is not None else None
