"""Lines of other stacks and other languages, met in public logs and issues in 2026; numbers are made up."""

import math

import pytest

from tests.diagnosis.formats.dialects.table import NAN, Case, check
from tests.diagnosis.formats.reading import attempts, losses, read, reader_of, samples

CASES = [
    Case(  # Deeplearning4j: its score is the loss
        "deeplearning4j",
        "06:38:16.402 [main] INFO org.deeplearning4j.optimize.listeners.ScoreIterationListener - Score at iteration 0 is 1.625\n"
        "06:39:50.616 [main] INFO o.d.optimize.listeners.ScoreIterationListener - Score at iteration 100 is 9.8E-2\n"
        "06:39:51.616 [main] INFO o.d.optimize.listeners.ScoreIterationListener - Score at iteration 200 is NaN\n",
        [{"step": 0, "loss": 1.625}, {"step": 100, "loss": 0.098}, {"step": 200, "loss": NAN}],
    ),
    Case(  # PaddleRec: the number of a batch, and a mean behind each epoch
        "key and value",
        "2022-04-12 17:10:51,909 - INFO - epoch: 0, batch_id: 500, AUC:0.788134, loss:0.185, avg_batch_cost: 0.56199 sec\n"
        "2022-04-12 17:15:26,908 - INFO - epoch: 0, batch_id: 1000, AUC:0.841936, loss:0.165, avg_batch_cost: 0.549 sec\n"
        "2022-04-12 17:24:35,400 - INFO - epoch: 0 done, AUC: 0.874769,ACC: 0.822143,loss:0.149, epoch time: 1105.58 s\n"
        "2022-04-12 17:29:16,416 - INFO - epoch: 1, batch_id: 500, AUC:0.910986, loss:0.127, avg_batch_cost: 0.56 sec\n",
        [{"step": 500, "loss": 0.185}, {"step": 1000, "loss": 0.165}, {"step": 1500, "loss": 0.127}],
    ),
    Case(  # caiyuanhao1998/MST#7: nothing but means
        "key and value",
        "2022-07-20 17:24:00,364 - INFO: ===> Epoch 162 Complete: Avg. Loss: 0.014234 time: 662.37\n"
        "2022-07-20 17:24:00,803 - INFO: ===> Epoch 162: testing psnr = 34.40, ssim = 0.938, time: 0.02\n"
        "2022-07-20 17:35:00,009 - INFO: ===> Epoch 163 Complete: Avg. Loss: 0.014345 time: 659.20\n",
        [{"epoch": 162, "loss": 0.014234}, {"epoch": 163, "loss": 0.014345}],
    ),
    Case(  # OpenNMT-py#709
        "opennmt",
        "Epoch  1, 12850/37527; acc:   3.99; ppl: 12792.57; xent:   9.46; 3438 src tok/s; 3517 tgt tok/s;   9823 s elapsed\n"
        "Epoch  2,    50/37527; acc:   4.48; ppl: 35173.75; xent:  10.47; 3599 src tok/s; 3678 tgt tok/s;   9861 s elapsed\n",
        [{"step": 12850, "loss": 9.46, "tokens_per_second": 3517}, {"step": 37577, "loss": 10.47}],
    ),
    Case(  # OpenNMT-py#528: a perplexity alone
        "opennmt",
        "Epoch 1, 64500/64667; acc:  57.58; ppl:   8.00; 5375 src tok/s; 5294 tgt tok/s;  18163 s elapsed\n"
        "Epoch 1, 64550/64667; acc:  57.87; ppl:   nan; 5314 src tok/s; 5280 tgt tok/s;  18177 s elapsed\n",
        [{"step": 64500, "loss": math.log(8), "perplexity": 8}, {"step": 64550, "loss": None, "perplexity": NAN}],
    ),
    Case(  # awslabs/sockeye#664
        "key and value",
        "[2019-03-17:14:36:36:INFO:sockeye.training:__call__] Epoch[0] Batch [3150]\tSpeed: 71.18 samples/sec 1971.60 "
        "tokens/sec 1.27 updates/sec\tperplexity=32.0\n"
        "[2019-03-17:14:37:15:INFO:sockeye.training:__call__] Epoch[0] Batch [3200]\tSpeed: 57.12 samples/sec 1958.61 "
        "tokens/sec 1.28 updates/sec\tperplexity=16.0\n",
        [{"step": 3150, "loss": math.log(32)}, {"step": 3200, "loss": math.log(16)}],
    ),
    Case(  # LightGBM's program: the training set's loss among four lines an iteration
        "lightgbm",
        "[LightGBM] [Info] Iteration:18, training auc : 0.652066\n"
        "[LightGBM] [Info] Iteration:18, training binary_logloss : 0.19997\n"
        "[LightGBM] [Info] Iteration:18, valid_1 auc : 0.652581\n"
        "[LightGBM] [Info] Iteration:18, valid_1 binary_logloss : 0.200636\n"
        "[LightGBM] [Info] 81.515303 seconds elapsed, finished iteration 18\n"
        "[LightGBM] [Info] Iteration:19, training binary_logloss : 0.199873\n",
        [{"step": 18, "loss": 0.19997}, {"step": 19, "loss": 0.199873}],
    ),
    Case(  # kaldi-asr/kaldi#134: a likelihood, which rises
        "kaldi",
        "LOG (nnet3-train:PrintStatsForThisPhase():nnet-training.cc:121) Average objective function for 'output' for "
        "minibatches 40-49 is -35.0044 over 19538 frames.\n"
        "LOG (nnet3-train:PrintStatsForThisPhase():nnet-training.cc:121) Average objective function for 'output' for "
        "minibatches 50-59 is -32.7891 over 19423 frames.\n",
        [{"step": 49, "loss": -35.0044, "adversarial": 1}, {"step": 59, "loss": -32.7891, "adversarial": 1}],
    ),
    Case(
        "fasttext",
        "Progress:  10.5% words/sec/thread:  123456 lr:  0.089500 avg.loss:  2.302 ETA:   0h 1m 2s\r"
        "Progress:  10.6% words/sec/thread:  123456 lr:  0.089400 avg.loss:  2.291 ETA:   0h 1m 2s\n",
        [{"step": 1, "loss": 2.302, "lr": 0.0895}, {"step": 2, "loss": 2.291, "lr": 0.0894}],
    ),
    Case(  # OpenAI's Spinning Up
        "boxed table",
        "---------------------------------------\n|             Epoch |               0 |\n|      AverageEpRet |            21.5 |\n"
        "| TotalEnvInteracts |            4000 |\n|            LossPi |           -0.01 |\n|             LossV |             200 |\n"
        "---------------------------------------\n",
        [{"step": 4000, "loss": -0.01}],
    ),
    Case(  # Julia's @info
        "julia",
        "┌ Info: Train\n│   epoch = 1\n│   step = 100\n└   loss = 0.31\n[ Info: saved\n┌ Info: Train\n│   epoch = 1\n"
        "│   step = 200\n└   loss = 0.25\n",
        [{"step": 100, "loss": 0.31}, {"step": 200, "loss": 0.25}],
    ),
    Case(  # candle's example
        "key and value",
        "   1 train loss:  0.35678 test acc: 91.20%\n   2 train loss:  0.31000 test acc: 92.30%\n",
        [{"step": 1, "loss": 0.35678}, {"step": 2, "loss": 0.31}],
    ),
    Case(  # Caffe tells the same loss twice
        "key and value",
        "I0101 12:00:00.000000  1234 solver.cpp:218] Iteration 100 (12.3456 iter/s, 8.1s/100 iters), loss = 0.24\n"
        "I0101 12:00:00.000100  1234 solver.cpp:237]     Train net output #0: loss = 0.24 (* 1 = 0.24 loss)\n"
        "I0101 12:00:00.000200  1234 sgd_solver.cpp:105] Iteration 100, lr = 0.01\n"
        "I0101 12:01:02.000000  1234 solver.cpp:404]     Test net output #1: loss = 0.0838 (* 1 = 0.0838 loss)\n",
        [{"step": 100, "loss": 0.24}, {"step": 100, "loss": None, "lr": 0.01}],
    ),
    Case(  # Hugging Face's Flax examples: evaluations and epochs among the steps
        "flax",
        "Step... (500 | Loss: 5.25, Learning Rate: 0.00029)\nStep... (1000 | Eval Loss: 4.1 | Eval Perplexity: 60.3)\n"
        "Step... (1000 | Loss: 4.75, Learning Rate: 0.00028)\nEpoch... (1/10 | Loss: 4.6, Acc: 0.3)\n",
        [{"step": 500, "loss": 5.25, "lr": 0.00029}, {"step": 1000, "loss": 4.75, "lr": 0.00028}],
    ),
    Case(  # ImageNet meters as Kaggle's notebooks print them
        "imagenet meters",
        "Epoch: [1][0/100] Elapsed 0m 1s (remain 2m 3s) Loss: 0.6931(0.6931) Grad: 1.2345  LR: 0.00002000  \n"
        "EVAL: [0/50] Elapsed 0m 1s (remain 0m 30s) Loss: 0.9000(0.9000) \n"
        "Epoch: [1][20/100] Elapsed 0m 9s (remain 1m 3s) Loss: 0.5800(0.6400) Grad: 1.5  LR: 0.00002000  \n",
        [{"loss": 0.6931, "grad_norm": 1.2345, "lr": 2e-5}, {"loss": 0.58, "grad_norm": 1.5, "lr": 2e-5}],
    ),
    Case(  # simpletransformers: the loss in front of the bar, with room for its digits
        "progress bar",
        "\rEpochs 0/3. Running Loss:    0.6123:  10%|█         | 10/100 [00:01<00:10,  9.01it/s]"
        "\rEpochs 0/3. Running Loss:    0.6022:  11%|█         | 11/100 [00:01<00:10,  9.01it/s]\n",
        [{"step": 10, "loss": 0.6123}, {"step": 11, "loss": 0.6022}],
    ),
    Case(  # The Annotated Transformer: two other counters stand beside the one that counts
        "key and value",
        "Epoch Step:      1 | Accumulation Step:   1 | Loss:   7.65 | Tokens / Sec:  4000.1 | Learning Rate: 2.1e-05\n"
        "Epoch Step:     41 | Accumulation Step:   5 | Loss:   6.50 | Tokens / Sec:  4000.1 | Learning Rate: 3.1e-05\n",
        [{"step": 1, "loss": 7.65, "lr": 2.1e-5}, {"step": 41, "loss": 6.5, "lr": 3.1e-5}],
    ),
    Case(  # tf_cnn_benchmarks
        "table",
        "Step\tImg/sec\ttotal_loss\n1\timages/sec: 492.6 +/- 0.0 (jitter = 0.0)\t9.844\n"
        "10\timages/sec: 492.6 +/- 0.0 (jitter = 0.0)\t8.155\n",
        [{"step": 1, "loss": 9.844}, {"step": 10, "loss": 8.155}],
    ),
    Case(  # Informer and its many children
        "key and value",
        "\titers: 100, epoch: 1 | loss: 0.4567\n\tspeed: 0.0512s/iter; left time: 123.4567s\n"
        "\titers: 200, epoch: 1 | loss: 0.3567\nEpoch: 1 cost time: 12.345678\n"
        "Epoch: 1, Steps: 264 | Train Loss: 0.4012345 Vali Loss: 0.7123456 Test Loss: 0.4321\n"
        "Validation loss decreased (inf --> 0.712346).  Saving model ...\n\titers: 100, epoch: 2 | loss: 0.3000\n",
        [{"step": 100, "loss": 0.4567}, {"step": 200, "loss": 0.3567}, {"step": 300, "loss": 0.3}],
    ),
    Case(  # GloVe
        "key and value",
        "06/01/20 - 12:01.12PM, iter: 001, cost: 0.0712\n06/01/20 - 12:02.12PM, iter: 002, cost: 0.0523\n",
        [{"step": 1, "loss": 0.0712}, {"step": 2, "loss": 0.0523}],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{place}-{case.dialect}" for place, case in enumerate(CASES)])
def test_a_line_of_another_stack_is_read(case):
    """With its own words."""
    check(case)


def test_a_batch_that_begins_again_is_the_next_epoch_of_the_same_training():
    """open-mmlab/mmskeleton#46: the epoch stands on a line of its own."""
    text = "".join(
        f"[ Wed Jun  6 16:01:01 2018 ] Training epoch: {epoch}\n"
        + "".join(
            f"[ Wed Jun  6 16:01:16 2018 ] \tBatch({n}/400) done. Loss: {6 - epoch}.5  lr:0.1\n"
            for n in (0, 100, 200, 300)
        )
        for epoch in (1, 2, 3)
    )

    seen = read(text)

    assert [step for step, _ in losses(seen)] == [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100]
    assert attempts(seen) == []


def test_a_batch_that_is_printed_out_of_order_begins_no_epoch():
    """As ranks print that share a file."""
    assert [step for step, _ in losses(read("".join(f"batch {n} loss 2.5\n" for n in (10, 30, 20, 40))))] == [
        10,
        30,
        20,
        40,
    ]


@pytest.mark.parametrize(
    "line",
    [
        "validating ... loss: 0.0757",
        "Dev  Accuracy:  Evaluation - loss: 0.655496  acc: 62.3853%(544/872)",
        "2022-04-21 06:29:38,987 INFO [train.py:431] Epoch 0, validation: loss=0.9, over 453151.52 frames.",
        "epoch: 1, lr: 1.00e+00 - train loss: 9.45e-01 - valid loss: 1.23, valid CER: 35.42",
        "\tMean training loss: 5.8000.",
        "Validation perplexity: 8.64759",
    ],
)
def test_beside_losses_what_evaluates_or_sums_up_is_not_missed(line):
    """It is understood as none of the curve's points, so nobody is told that it was not."""
    reader, seen = reader_of("".join(f"step {n} loss 2.5\n{line}\n" for n in range(100, 500, 100)))

    assert len(losses(seen)) == 4
    assert reader.unread.count == 0


@pytest.mark.parametrize(
    "other",
    [
        "total steps: 1000",
        "Total Steps 1000",
        "warmup steps: 50",
        "Number of steps: 900",
        "accumulation step: 4",
        "remaining steps: 7",
    ],
)
@pytest.mark.parametrize("line", ["lr: 0.1 | {other} | step: {n} | loss: 2.5", "step: {n} | {other} | loss: 2.5"])
def test_a_number_of_steps_that_is_no_counter_is_not_the_step(line, other):
    """Wherever it stands."""
    text = "".join(line.format(n=n, other=other) + "\n" for n in (10, 20, 30))

    assert [step for step, _ in losses(read(text))] == [10, 20, 30]


@pytest.mark.parametrize("line", ["Train iteration 12 of 7, loss_a 2.5, loss_b 2.5", "Iteration 5, Testing net (#0)"])
def test_what_only_names_a_step_is_no_loss(line):
    """Two losses of a script's own, or none."""
    assert all(one.loss is None for one in samples(read(f"{line}\n" * 3)))
