"""The numbers of Jain and Wallace (2019), arXiv:1902.10186: as printed there, and as their repository released them.

Classes are "0", "1" and "2" as there (see the datasets' own modules for their names), "all" is over all texts.
The release's tables CorrStats have the rows of gradient and leave-one-out exchanged; the numbers here are from the
tables of each, where they are not. Where the release has none (a text with a constant map made it NaN), none is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

Setting = tuple[str, str, str]  # dataset, encoder, attention


class Tau(NamedTuple):
    """Kendall's tau over texts: mean, standard deviation, and the share of texts with p <= 0.05."""

    mean: float
    std: float
    significant: float


class Dataset(NamedTuple):
    """A row of Table 1; sizes for each class where there are classes."""

    vocabulary: int
    length: int
    train: tuple[int, ...]
    test: tuple[int, ...]
    performance: float


class Agreement(NamedTuple):
    """A row of Table 2: attention against gradients and against leave-one-out."""

    gradient_lstm: Tau
    gradient_average: Tau
    leave_one_out_lstm: Tau


_Row = tuple[tuple[float, float, float] | None, ...]


def _named(rows: Mapping[Setting, _Row]) -> dict[Setting, dict[str, Tau]]:
    """By class; the last of each row is over all texts."""
    return {setting: _by_class(row) for setting, row in rows.items()}


def _by_class(row: _Row) -> dict[str, Tau]:
    names = [*map(str, range(len(row) - 1)), "all"]
    return {name: Tau(*numbers) for name, numbers in zip(names, row, strict=True) if numbers is not None}


# Table 1: words in the vocabulary, mean length, training and test texts, and test F1, accuracy or micro-F1 (BiLSTM).
TABLE_1: Final[dict[str, Dataset]] = {
    "sst": Dataset(16175, 19, (3034, 3321), (863, 862), 0.81),
    "imdb": Dataset(13916, 179, (12500, 12500), (2184, 2172), 0.88),
    "adr": Dataset(8686, 20, (14446, 1939), (3636, 487), 0.61),
    "newsgroups": Dataset(8853, 115, (716, 710), (151, 183), 0.94),
    "ag_news": Dataset(14752, 36, (30000, 30000), (1900, 1900), 0.96),
    "diabetes": Dataset(22316, 1858, (6381, 1353), (1295, 319), 0.79),
    "anemia": Dataset(19743, 2188, (1847, 3251), (460, 802), 0.92),
    "cnn": Dataset(74790, 761, (380298,), (3198,), 0.64),
    "babi_1": Dataset(40, 8, (10000,), (1000,), 1.0),
    "babi_2": Dataset(40, 67, (10000,), (1000,), 0.65),
    "babi_3": Dataset(40, 421, (10000,), (1000,), 0.64),
    "snli": Dataset(20982, 14, (182764, 183187, 183416), (3219, 3237, 3368), 0.78),
}  # fmt: skip

# Table 2, for additive attention, by the class that is predicted.
TABLE_2: Final[dict[tuple[str, str], Agreement]] = {
    ("sst", "0"): Agreement(Tau(0.34, 0.21, 0.48), Tau(0.61, 0.20, 0.87), Tau(0.27, 0.19, 0.33)),
    ("sst", "1"): Agreement(Tau(0.36, 0.21, 0.49), Tau(0.60, 0.21, 0.83), Tau(0.32, 0.19, 0.40)),
    ("imdb", "0"): Agreement(Tau(0.44, 0.06, 1.00), Tau(0.67, 0.05, 1.00), Tau(0.34, 0.07, 1.00)),
    ("imdb", "1"): Agreement(Tau(0.43, 0.06, 1.00), Tau(0.68, 0.05, 1.00), Tau(0.34, 0.07, 0.99)),
    ("adr", "0"): Agreement(Tau(0.47, 0.18, 0.76), Tau(0.73, 0.13, 0.96), Tau(0.29, 0.20, 0.44)),
    ("adr", "1"): Agreement(Tau(0.49, 0.15, 0.85), Tau(0.72, 0.12, 0.97), Tau(0.44, 0.16, 0.74)),
    ("newsgroups", "0"): Agreement(Tau(0.07, 0.17, 0.37), Tau(0.79, 0.07, 1.00), Tau(0.06, 0.15, 0.29)),
    ("newsgroups", "1"): Agreement(Tau(0.21, 0.22, 0.61), Tau(0.75, 0.08, 1.00), Tau(0.20, 0.20, 0.62)),
    ("ag_news", "0"): Agreement(Tau(0.36, 0.13, 0.82), Tau(0.78, 0.07, 1.00), Tau(0.30, 0.13, 0.69)),
    ("ag_news", "1"): Agreement(Tau(0.42, 0.13, 0.90), Tau(0.76, 0.07, 1.00), Tau(0.43, 0.14, 0.91)),
    ("diabetes", "0"): Agreement(Tau(0.42, 0.05, 1.00), Tau(0.75, 0.02, 1.00), Tau(0.41, 0.05, 1.00)),
    ("diabetes", "1"): Agreement(Tau(0.40, 0.05, 1.00), Tau(0.75, 0.02, 1.00), Tau(0.45, 0.05, 1.00)),
    ("anemia", "0"): Agreement(Tau(0.47, 0.05, 1.00), Tau(0.77, 0.02, 1.00), Tau(0.46, 0.05, 1.00)),
    ("anemia", "1"): Agreement(Tau(0.46, 0.06, 1.00), Tau(0.77, 0.03, 1.00), Tau(0.47, 0.06, 1.00)),
    ("cnn", "all"): Agreement(Tau(0.24, 0.07, 0.99), Tau(0.50, 0.10, 1.00), Tau(0.20, 0.07, 0.98)),
    ("babi_1", "all"): Agreement(Tau(0.25, 0.16, 0.55), Tau(0.72, 0.12, 0.99), Tau(0.16, 0.14, 0.28)),
    ("babi_2", "all"): Agreement(Tau(-0.02, 0.14, 0.27), Tau(0.68, 0.06, 1.00), Tau(-0.01, 0.13, 0.27)),
    ("babi_3", "all"): Agreement(Tau(0.24, 0.11, 0.87), Tau(0.61, 0.13, 1.00), Tau(0.26, 0.10, 0.89)),
    ("snli", "0"): Agreement(Tau(0.31, 0.23, 0.36), Tau(0.59, 0.18, 0.80), Tau(0.16, 0.26, 0.20)),
    ("snli", "1"): Agreement(Tau(0.33, 0.21, 0.38), Tau(0.58, 0.19, 0.80), Tau(0.36, 0.19, 0.44)),
    ("snli", "2"): Agreement(Tau(0.31, 0.21, 0.36), Tau(0.57, 0.19, 0.80), Tau(0.34, 0.20, 0.40)),
}  # fmt: skip

# Released: attention against gradients.
RELEASED_GRADIENT: Final = _named({
    ("sst", "lstm", "additive"): ((0.343, 0.211, 0.48), (0.364, 0.210, 0.49), (0.351, 0.211, 0.49)),
    ("sst", "lstm", "dot"): ((0.085, 0.195, 0.09), (0.060, 0.215, 0.08), (0.073, 0.205, 0.09)),
    ("sst", "cnn", "additive"): ((0.478, 0.169, 0.75), (0.476, 0.165, 0.75), (0.477, 0.167, 0.75)),
    ("sst", "cnn", "dot"): ((0.202, 0.192, 0.20), (0.284, 0.191, 0.32), (0.240, 0.196, 0.25)),
    ("sst", "average", "additive"): ((0.611, 0.197, 0.87), (0.600, 0.206, 0.83), (0.606, 0.201, 0.85)),
    ("sst", "average", "dot"): ((0.390, 0.212, 0.59), (0.283, 0.208, 0.37), (0.347, 0.217, 0.50)),
    ("imdb", "lstm", "additive"): ((0.442, 0.057, 1.00), (0.432, 0.065, 1.00), (0.437, 0.061, 1.00)),
    ("imdb", "lstm", "dot"): ((0.122, 0.059, 0.62), (0.123, 0.066, 0.61), (0.122, 0.063, 0.62)),
    ("imdb", "cnn", "additive"): ((0.437, 0.050, 1.00), (0.468, 0.053, 1.00), (0.452, 0.054, 1.00)),
    ("imdb", "cnn", "dot"): ((0.360, 0.066, 1.00), (0.332, 0.065, 0.99), (0.346, 0.067, 0.99)),
    ("imdb", "average", "additive"): ((0.674, 0.049, 1.00), (0.675, 0.051, 1.00), (0.675, 0.050, 1.00)),
    ("imdb", "average", "dot"): ((0.213, 0.067, 0.93), None, None),
    ("adr", "lstm", "additive"): ((0.469, 0.176, 0.76), (0.493, 0.154, 0.85), (0.474, 0.172, 0.78)),
    ("adr", "lstm", "dot"): ((-0.192, 0.237, 0.28), (0.194, 0.177, 0.23), (-0.116, 0.273, 0.27)),
    ("adr", "cnn", "additive"): ((0.430, 0.180, 0.71), (0.437, 0.160, 0.76), (0.432, 0.175, 0.72)),
    ("adr", "cnn", "dot"): ((0.090, 0.181, 0.07), None, None),
    ("adr", "average", "additive"): ((0.727, 0.130, 0.96), (0.723, 0.117, 0.97), (0.726, 0.126, 0.97)),
    ("adr", "average", "dot"): ((-0.123, 0.189, 0.13), (0.226, 0.188, 0.24), (-0.048, 0.237, 0.15)),
    ("newsgroups", "lstm", "additive"): ((0.066, 0.166, 0.37), (0.210, 0.223, 0.61), (0.130, 0.206, 0.48)),
    ("newsgroups", "lstm", "dot"): ((0.117, 0.145, 0.45), (0.148, 0.166, 0.50), (0.132, 0.156, 0.48)),
    ("newsgroups", "cnn", "additive"): ((0.522, 0.091, 0.96), (0.354, 0.096, 0.91), (0.446, 0.125, 0.94)),
    ("newsgroups", "cnn", "dot"): ((0.009, 0.108, 0.10), None, None),
    ("newsgroups", "average", "additive"): ((0.787, 0.072, 1.00), (0.754, 0.080, 1.00), (0.772, 0.078, 1.00)),
    ("newsgroups", "average", "dot"): ((-0.034, 0.151, 0.24), (0.106, 0.153, 0.38), (0.036, 0.167, 0.31)),
    ("ag_news", "lstm", "additive"): ((0.358, 0.132, 0.82), (0.419, 0.129, 0.90), (0.389, 0.134, 0.86)),
    ("ag_news", "lstm", "dot"): ((0.268, 0.136, 0.63), (0.341, 0.153, 0.75), (0.305, 0.150, 0.69)),
    ("ag_news", "cnn", "additive"): ((0.515, 0.109, 0.98), (0.468, 0.099, 0.97), (0.491, 0.106, 0.98)),
    ("ag_news", "cnn", "dot"): ((0.388, 0.121, 0.87), (0.393, 0.116, 0.89), (0.391, 0.118, 0.88)),
    ("ag_news", "average", "additive"): ((0.782, 0.073, 1.00), (0.759, 0.067, 1.00), (0.770, 0.071, 1.00)),
    ("ag_news", "average", "dot"): ((0.659, 0.101, 1.00), (0.618, 0.108, 0.99), (0.638, 0.107, 1.00)),
    ("diabetes", "lstm", "additive"): ((0.423, 0.045, 1.00), (0.403, 0.052, 1.00), (0.417, 0.048, 1.00)),
    ("diabetes", "lstm", "dot"): ((0.178, 0.057, 1.00), (0.354, 0.062, 1.00), (0.223, 0.096, 1.00)),
    ("diabetes", "cnn", "additive"): ((0.402, 0.038, 1.00), (0.415, 0.038, 1.00), (0.406, 0.039, 1.00)),
    ("diabetes", "cnn", "dot"): ((0.459, 0.042, 1.00), (0.473, 0.041, 1.00), (0.463, 0.042, 1.00)),
    ("diabetes", "average", "additive"): ((0.748, 0.018, 1.00), (0.753, 0.017, 1.00), (0.750, 0.018, 1.00)),
    ("diabetes", "average", "dot"): ((0.524, 0.038, 1.00), (0.512, 0.040, 1.00), (0.520, 0.040, 1.00)),
    ("anemia", "lstm", "additive"): ((0.466, 0.054, 1.00), (0.461, 0.060, 1.00), (0.463, 0.058, 1.00)),
    ("anemia", "lstm", "dot"): ((0.439, 0.048, 1.00), (0.509, 0.054, 1.00), (0.476, 0.062, 1.00)),
    ("anemia", "cnn", "additive"): ((0.441, 0.050, 1.00), (0.448, 0.056, 1.00), (0.445, 0.054, 1.00)),
    ("anemia", "cnn", "dot"): ((0.501, 0.042, 1.00), None, None),
    ("anemia", "average", "additive"): ((0.767, 0.023, 1.00), (0.770, 0.028, 1.00), (0.769, 0.027, 1.00)),
    ("anemia", "average", "dot"): ((0.607, 0.027, 1.00), (0.603, 0.028, 1.00), (0.604, 0.028, 1.00)),
    ("cnn", "lstm", "additive"): ((0.236, 0.071, 0.99),),
    ("cnn", "lstm", "dot"): ((0.176, 0.114, 0.86),),
    ("cnn", "cnn", "additive"): ((0.196, 0.057, 0.99),),
    ("cnn", "cnn", "dot"): ((0.222, 0.075, 0.99),),
    ("cnn", "average", "additive"): ((0.501, 0.104, 1.00),),
    ("cnn", "average", "dot"): ((0.514, 0.084, 1.00),),
    ("babi_1", "lstm", "additive"): ((0.251, 0.156, 0.55),),
    ("babi_1", "lstm", "dot"): ((0.437, 0.155, 0.83),),
    ("babi_1", "cnn", "additive"): ((0.245, 0.141, 0.51),),
    ("babi_1", "cnn", "dot"): ((0.169, 0.125, 0.27),),
    ("babi_1", "average", "additive"): ((0.717, 0.119, 0.99),),
    ("babi_1", "average", "dot"): ((0.713, 0.136, 0.99),),
    ("babi_2", "lstm", "additive"): ((-0.017, 0.137, 0.27),),
    ("babi_2", "lstm", "dot"): ((0.170, 0.147, 0.57),),
    ("babi_2", "cnn", "additive"): ((0.181, 0.079, 0.66),),
    ("babi_2", "cnn", "dot"): ((0.152, 0.077, 0.53),),
    ("babi_2", "average", "additive"): ((0.678, 0.057, 1.00),),
    ("babi_2", "average", "dot"): ((0.600, 0.179, 0.99),),
    ("babi_3", "lstm", "additive"): ((0.239, 0.113, 0.87),),
    ("babi_3", "lstm", "dot"): ((0.299, 0.148, 0.89),),
    ("babi_3", "cnn", "additive"): ((0.180, 0.058, 0.91),),
    ("babi_3", "cnn", "dot"): ((0.014, 0.054, 0.12),),
    ("babi_3", "average", "additive"): ((0.607, 0.127, 1.00),),
    ("babi_3", "average", "dot"): ((0.480, 0.137, 1.00),),
    ("snli", "lstm", "additive"): (
        (0.306, 0.226, 0.36), (0.326, 0.209, 0.38), (0.307, 0.214, 0.36), (0.314, 0.216, 0.37),
    ),
    ("snli", "lstm", "dot"): ((0.113, 0.234, 0.10), (0.119, 0.238, 0.11), (0.114, 0.231, 0.11), (0.116, 0.235, 0.11)),
    ("snli", "cnn", "additive"): (
        (0.199, 0.244, 0.22), (0.282, 0.220, 0.31), (0.213, 0.237, 0.21), (0.235, 0.236, 0.25),
    ),
    ("snli", "cnn", "dot"): ((0.276, 0.222, 0.31), (0.268, 0.222, 0.29), (0.269, 0.222, 0.30), (0.271, 0.222, 0.30)),
    ("snli", "average", "additive"): (
        (0.588, 0.181, 0.80), (0.585, 0.186, 0.80), (0.574, 0.188, 0.80), (0.582, 0.185, 0.80),
    ),
    ("snli", "average", "dot"): (
        (0.518, 0.180, 0.73), (0.489, 0.177, 0.68), (0.495, 0.187, 0.70), (0.500, 0.182, 0.70),
    ),
})  # fmt: skip

# Released: attention against leave-one-out.
RELEASED_LEAVE_ONE_OUT: Final = _named({
    ("sst", "lstm", "additive"): ((0.272, 0.188, 0.33), (0.323, 0.192, 0.40), (0.291, 0.191, 0.36)),
    ("sst", "lstm", "dot"): ((0.055, 0.188, 0.07), (0.074, 0.213, 0.08), (0.064, 0.200, 0.07)),
    ("sst", "cnn", "additive"): ((0.338, 0.180, 0.48), (0.365, 0.168, 0.53), (0.352, 0.175, 0.51)),
    ("sst", "cnn", "dot"): ((0.204, 0.192, 0.21), (0.228, 0.193, 0.20), (0.215, 0.193, 0.21)),
    ("sst", "average", "additive"): ((0.606, 0.156, 0.87), (0.642, 0.151, 0.89), (0.623, 0.155, 0.88)),
    ("sst", "average", "dot"): ((0.330, 0.180, 0.46), (0.290, 0.165, 0.36), (0.314, 0.175, 0.42)),
    ("imdb", "lstm", "additive"): ((0.341, 0.065, 1.00), (0.341, 0.074, 0.99), (0.341, 0.070, 0.99)),
    ("imdb", "lstm", "dot"): ((0.111, 0.066, 0.57), (0.069, 0.069, 0.30), (0.092, 0.071, 0.45)),
    ("imdb", "cnn", "additive"): ((0.287, 0.056, 0.98), (0.303, 0.057, 0.99), (0.295, 0.057, 0.98)),
    ("imdb", "cnn", "dot"): ((0.383, 0.061, 1.00), (0.348, 0.066, 0.99), (0.365, 0.066, 0.99)),
    ("imdb", "average", "additive"): ((0.537, 0.099, 1.00), (0.616, 0.080, 1.00), (0.576, 0.098, 1.00)),
    ("imdb", "average", "dot"): ((0.147, 0.062, 0.75), (0.243, 0.072, 0.96), (0.201, 0.083, 0.87)),
    ("adr", "lstm", "additive"): ((0.290, 0.197, 0.44), (0.435, 0.164, 0.74), (0.319, 0.200, 0.50)),
    ("adr", "lstm", "dot"): ((-0.046, 0.208, 0.08), (0.204, 0.168, 0.23), (0.003, 0.224, 0.11)),
    ("adr", "cnn", "additive"): ((0.343, 0.196, 0.56), (0.403, 0.164, 0.68), (0.359, 0.190, 0.59)),
    ("adr", "cnn", "dot"): ((0.135, 0.193, 0.15), (0.356, 0.173, 0.58), (0.180, 0.209, 0.24)),
    ("adr", "average", "additive"): ((0.586, 0.204, 0.84), (0.604, 0.174, 0.89), (0.591, 0.196, 0.86)),
    ("adr", "average", "dot"): ((-0.080, 0.162, 0.04), (0.075, 0.158, 0.01), (-0.046, 0.173, 0.03)),
    ("newsgroups", "lstm", "additive"): ((0.064, 0.154, 0.29), (0.195, 0.202, 0.62), (0.123, 0.189, 0.44)),
    ("newsgroups", "lstm", "dot"): ((0.074, 0.120, 0.32), (0.058, 0.185, 0.45), (0.067, 0.154, 0.38)),
    ("newsgroups", "cnn", "additive"): ((0.384, 0.110, 0.90), (0.246, 0.112, 0.78), (0.322, 0.130, 0.85)),
    ("newsgroups", "cnn", "dot"): ((0.163, 0.098, 0.58), (0.209, 0.128, 0.63), (0.185, 0.116, 0.61)),
    ("newsgroups", "average", "additive"): ((0.635, 0.100, 0.98), (0.823, 0.099, 1.00), (0.721, 0.137, 0.99)),
    ("newsgroups", "average", "dot"): ((-0.272, 0.102, 0.80), (-0.078, 0.277, 0.61), (-0.175, 0.230, 0.71)),
    ("ag_news", "lstm", "additive"): ((0.302, 0.131, 0.69), (0.430, 0.139, 0.91), (0.367, 0.150, 0.80)),
    ("ag_news", "lstm", "dot"): ((0.178, 0.143, 0.37), (0.172, 0.108, 0.26), (0.175, 0.127, 0.31)),
    ("ag_news", "cnn", "additive"): ((0.390, 0.119, 0.89), (0.330, 0.124, 0.78), (0.360, 0.125, 0.83)),
    ("ag_news", "cnn", "dot"): ((0.360, 0.122, 0.84), (0.374, 0.108, 0.88), (0.367, 0.115, 0.86)),
    ("ag_news", "average", "additive"): ((0.488, 0.133, 0.96), (0.526, 0.124, 0.98), (0.507, 0.130, 0.97)),
    ("ag_news", "average", "dot"): ((0.303, 0.148, 0.67), (0.613, 0.101, 1.00), (0.461, 0.200, 0.84)),
    ("diabetes", "lstm", "additive"): ((0.411, 0.051, 1.00), (0.445, 0.046, 1.00), (0.421, 0.052, 1.00)),
    ("diabetes", "lstm", "dot"): ((0.078, 0.034, 0.95), (0.112, 0.062, 0.92), (0.087, 0.045, 0.94)),
    ("diabetes", "cnn", "additive"): ((0.308, 0.050, 1.00), (0.451, 0.041, 1.00), (0.353, 0.082, 1.00)),
    ("diabetes", "cnn", "dot"): ((0.414, 0.048, 1.00), (0.436, 0.042, 1.00), (0.420, 0.047, 1.00)),
    ("diabetes", "average", "additive"): ((0.698, 0.051, 1.00), (0.747, 0.037, 1.00), (0.714, 0.052, 1.00)),
    ("diabetes", "average", "dot"): ((0.534, 0.039, 1.00), (0.471, 0.045, 1.00), (0.512, 0.051, 1.00)),
    ("anemia", "lstm", "additive"): ((0.457, 0.055, 1.00), (0.471, 0.062, 1.00), (0.465, 0.059, 1.00)),
    ("anemia", "lstm", "dot"): ((0.281, 0.054, 1.00), (0.295, 0.045, 1.00), (0.289, 0.050, 1.00)),
    ("anemia", "cnn", "additive"): ((0.515, 0.045, 1.00), (0.484, 0.063, 1.00), (0.496, 0.059, 1.00)),
    ("anemia", "cnn", "dot"): ((0.458, 0.046, 1.00), None, None),
    ("anemia", "average", "additive"): ((0.752, 0.034, 1.00), (0.731, 0.069, 1.00), (0.738, 0.060, 1.00)),
    ("anemia", "average", "dot"): ((0.613, 0.035, 1.00), (0.528, 0.043, 1.00), (0.564, 0.058, 1.00)),
    ("cnn", "lstm", "additive"): ((0.197, 0.075, 0.98),),
    ("cnn", "lstm", "dot"): ((0.215, 0.116, 0.92),),
    ("cnn", "cnn", "additive"): ((0.183, 0.057, 0.98),),
    ("cnn", "cnn", "dot"): ((0.216, 0.075, 0.99),),
    ("cnn", "average", "additive"): ((0.689, 0.098, 1.00),),
    ("cnn", "average", "dot"): ((0.635, 0.087, 1.00),),
    ("babi_1", "lstm", "additive"): ((0.160, 0.141, 0.28),),
    ("babi_1", "lstm", "dot"): ((0.422, 0.132, 0.80),),
    ("babi_1", "cnn", "additive"): ((0.160, 0.127, 0.23),),
    ("babi_1", "cnn", "dot"): ((0.110, 0.128, 0.13),),
    ("babi_1", "average", "additive"): ((0.735, 0.099, 0.99),),
    ("babi_1", "average", "dot"): ((0.817, 0.135, 0.98),),
    ("babi_2", "lstm", "additive"): ((-0.014, 0.134, 0.27),),
    ("babi_2", "lstm", "dot"): ((0.220, 0.135, 0.68),),
    ("babi_2", "cnn", "additive"): ((0.186, 0.074, 0.71),),
    ("babi_2", "cnn", "dot"): ((0.244, 0.062, 0.88),),
    ("babi_2", "average", "additive"): ((0.647, 0.065, 1.00),),
    ("babi_2", "average", "dot"): ((0.886, 0.067, 1.00),),
    ("babi_3", "lstm", "additive"): ((0.256, 0.104, 0.89),),
    ("babi_3", "lstm", "dot"): ((0.342, 0.152, 0.92),),
    ("babi_3", "cnn", "additive"): ((0.178, 0.049, 0.91),),
    ("babi_3", "cnn", "dot"): ((0.082, 0.053, 0.44),),
    ("babi_3", "average", "additive"): ((0.725, 0.092, 1.00),),
    ("babi_3", "average", "dot"): ((0.748, 0.067, 1.00),),
    ("snli", "lstm", "additive"): (
        (0.158, 0.258, 0.20), (0.364, 0.194, 0.44), (0.336, 0.204, 0.40), (0.290, 0.237, 0.35),
    ),
    ("snli", "lstm", "dot"): ((0.124, 0.236, 0.11), (0.190, 0.238, 0.16), (0.148, 0.234, 0.13), (0.156, 0.238, 0.13)),
    ("snli", "cnn", "additive"): (
        (0.227, 0.234, 0.26), (0.283, 0.219, 0.30), (0.280, 0.226, 0.31), (0.264, 0.227, 0.29),
    ),
    ("snli", "cnn", "dot"): ((0.273, 0.222, 0.31), (0.284, 0.208, 0.30), (0.310, 0.205, 0.37), (0.288, 0.212, 0.32)),
    ("snli", "average", "additive"): (
        (0.601, 0.183, 0.83), (0.583, 0.197, 0.79), (0.597, 0.186, 0.82), (0.593, 0.189, 0.81),
    ),
    ("snli", "average", "dot"): (
        (0.525, 0.176, 0.74), (0.522, 0.178, 0.75), (0.537, 0.185, 0.77), (0.527, 0.180, 0.75),
    ),
})  # fmt: skip

# Released: gradients against leave-one-out, over all texts.
RELEASED_GRADIENT_LEAVE_ONE_OUT: Final = _named({
    ("sst", "lstm", "additive"): ((0.656, 0.163, 0.91),),
    ("sst", "lstm", "dot"): ((0.708, 0.136, 0.94),),
    ("sst", "cnn", "additive"): ((0.488, 0.176, 0.74),),
    ("sst", "cnn", "dot"): ((0.636, 0.209, 0.82),),
    ("sst", "average", "additive"): ((0.558, 0.250, 0.73),),
    ("sst", "average", "dot"): ((0.661, 0.236, 0.82),),
    ("imdb", "lstm", "additive"): ((0.517, 0.100, 1.00),),
    ("imdb", "lstm", "dot"): ((0.602, 0.142, 1.00),),
    ("imdb", "cnn", "additive"): ((0.513, 0.069, 1.00),),
    ("imdb", "cnn", "dot"): ((0.595, 0.105, 1.00),),
    ("imdb", "average", "additive"): ((0.639, 0.187, 1.00),),
    ("imdb", "average", "dot"): (None,),
    ("adr", "lstm", "additive"): ((0.484, 0.203, 0.75),),
    ("adr", "lstm", "dot"): ((0.498, 0.189, 0.76),),
    ("adr", "cnn", "additive"): ((0.458, 0.198, 0.73),),
    ("adr", "cnn", "dot"): (None,),
    ("adr", "average", "additive"): ((0.588, 0.286, 0.76),),
    ("adr", "average", "dot"): ((0.511, 0.313, 0.70),),
    ("newsgroups", "lstm", "additive"): ((0.534, 0.164, 0.99),),
    ("newsgroups", "lstm", "dot"): ((0.499, 0.155, 0.99),),
    ("newsgroups", "cnn", "additive"): ((0.549, 0.120, 0.97),),
    ("newsgroups", "cnn", "dot"): (None,),
    ("newsgroups", "average", "additive"): ((0.622, 0.197, 0.96),),
    ("newsgroups", "average", "dot"): ((0.352, 0.297, 0.77),),
    ("ag_news", "lstm", "additive"): ((0.612, 0.121, 0.99),),
    ("ag_news", "lstm", "dot"): ((0.456, 0.137, 0.93),),
    ("ag_news", "cnn", "additive"): ((0.462, 0.131, 0.94),),
    ("ag_news", "cnn", "dot"): ((0.421, 0.174, 0.85),),
    ("ag_news", "average", "additive"): ((0.494, 0.171, 0.94),),
    ("ag_news", "average", "dot"): ((0.445, 0.190, 0.86),),
    ("diabetes", "lstm", "additive"): ((0.506, 0.069, 1.00),),
    ("diabetes", "lstm", "dot"): ((0.251, 0.046, 1.00),),
    ("diabetes", "cnn", "additive"): ((0.440, 0.110, 1.00),),
    ("diabetes", "cnn", "dot"): ((0.510, 0.057, 1.00),),
    ("diabetes", "average", "additive"): ((0.622, 0.062, 1.00),),
    ("diabetes", "average", "dot"): ((0.431, 0.033, 1.00),),
    ("anemia", "lstm", "additive"): ((0.679, 0.047, 1.00),),
    ("anemia", "lstm", "dot"): ((0.286, 0.050, 1.00),),
    ("anemia", "cnn", "additive"): ((0.614, 0.069, 1.00),),
    ("anemia", "cnn", "dot"): (None,),
    ("anemia", "average", "additive"): ((0.699, 0.083, 1.00),),
    ("anemia", "average", "dot"): ((0.462, 0.041, 1.00),),
    ("cnn", "lstm", "additive"): ((0.542, 0.054, 1.00),),
    ("cnn", "lstm", "dot"): ((0.410, 0.074, 1.00),),
    ("cnn", "cnn", "additive"): ((0.569, 0.067, 1.00),),
    ("cnn", "cnn", "dot"): ((0.540, 0.069, 1.00),),
    ("cnn", "average", "additive"): ((0.571, 0.110, 1.00),),
    ("cnn", "average", "dot"): ((0.553, 0.080, 1.00),),
    ("babi_1", "lstm", "additive"): ((0.499, 0.158, 0.84),),
    ("babi_1", "lstm", "dot"): ((0.413, 0.158, 0.78),),
    ("babi_1", "cnn", "additive"): ((0.304, 0.161, 0.65),),
    ("babi_1", "cnn", "dot"): ((0.548, 0.144, 0.93),),
    ("babi_1", "average", "additive"): ((0.691, 0.141, 0.99),),
    ("babi_1", "average", "dot"): ((0.684, 0.147, 0.98),),
    ("babi_2", "lstm", "additive"): ((0.437, 0.188, 0.91),),
    ("babi_2", "lstm", "dot"): ((0.280, 0.114, 0.83),),
    ("babi_2", "cnn", "additive"): ((0.375, 0.101, 0.98),),
    ("babi_2", "cnn", "dot"): ((0.414, 0.093, 0.99),),
    ("babi_2", "average", "additive"): ((0.474, 0.058, 0.99),),
    ("babi_2", "average", "dot"): ((0.575, 0.161, 0.99),),
    ("babi_3", "lstm", "additive"): ((0.499, 0.171, 0.97),),
    ("babi_3", "lstm", "dot"): ((0.395, 0.121, 0.97),),
    ("babi_3", "cnn", "additive"): ((0.465, 0.080, 1.00),),
    ("babi_3", "cnn", "dot"): ((0.525, 0.126, 1.00),),
    ("babi_3", "average", "additive"): ((0.546, 0.119, 1.00),),
    ("babi_3", "average", "dot"): ((0.411, 0.146, 0.98),),
    ("snli", "lstm", "additive"): ((0.240, 0.220, 0.25),),
    ("snli", "lstm", "dot"): ((0.310, 0.208, 0.35),),
    ("snli", "cnn", "additive"): ((0.340, 0.221, 0.43),),
    ("snli", "cnn", "dot"): ((0.294, 0.228, 0.35),),
    ("snli", "average", "additive"): ((0.587, 0.218, 0.78),),
    ("snli", "average", "dot"): ((0.434, 0.223, 0.59),),
})  # fmt: skip

# Released: on the test part, F1 of class 1 and area under the ROC curve (two classes), and accuracy.
RELEASED_SCORES: Final[dict[Setting, dict[str, float]]] = {
    ("sst", "lstm", "additive"): {"f1": 0.784, "auc": 0.902, "accuracy": 0.808},
    ("sst", "lstm", "dot"): {"f1": 0.817, "auc": 0.900, "accuracy": 0.823},
    ("sst", "cnn", "additive"): {"f1": 0.825, "auc": 0.908, "accuracy": 0.823},
    ("sst", "cnn", "dot"): {"f1": 0.805, "auc": 0.895, "accuracy": 0.812},
    ("sst", "average", "additive"): {"f1": 0.800, "auc": 0.895, "accuracy": 0.807},
    ("sst", "average", "dot"): {"f1": 0.777, "auc": 0.896, "accuracy": 0.799},
    ("imdb", "lstm", "additive"): {"f1": 0.896, "auc": 0.960, "accuracy": 0.898},
    ("imdb", "lstm", "dot"): {"f1": 0.879, "auc": 0.955, "accuracy": 0.885},
    ("imdb", "cnn", "additive"): {"f1": 0.898, "auc": 0.962, "accuracy": 0.901},
    ("imdb", "cnn", "dot"): {"f1": 0.895, "auc": 0.959, "accuracy": 0.894},
    ("imdb", "average", "additive"): {"f1": 0.882, "auc": 0.945, "accuracy": 0.883},
    ("imdb", "average", "dot"): {"f1": 0.873, "auc": 0.945, "accuracy": 0.866},
    ("adr", "lstm", "additive"): {"f1": 0.569, "auc": 0.899, "accuracy": 0.862},
    ("adr", "lstm", "dot"): {"f1": 0.569, "auc": 0.897, "accuracy": 0.865},
    ("adr", "cnn", "additive"): {"f1": 0.515, "auc": 0.899, "accuracy": 0.820},
    ("adr", "cnn", "dot"): {"f1": 0.542, "auc": 0.898, "accuracy": 0.853},
    ("adr", "average", "additive"): {"f1": 0.484, "auc": 0.893, "accuracy": 0.789},
    ("adr", "average", "dot"): {"f1": 0.551, "auc": 0.903, "accuracy": 0.850},
    ("newsgroups", "lstm", "additive"): {"f1": 0.917, "auc": 0.978, "accuracy": 0.922},
    ("newsgroups", "lstm", "dot"): {"f1": 0.934, "auc": 0.982, "accuracy": 0.936},
    ("newsgroups", "cnn", "additive"): {"f1": 0.909, "auc": 0.967, "accuracy": 0.913},
    ("newsgroups", "cnn", "dot"): {"f1": 0.938, "auc": 0.974, "accuracy": 0.938},
    ("newsgroups", "average", "additive"): {"f1": 0.909, "auc": 0.969, "accuracy": 0.913},
    ("newsgroups", "average", "dot"): {"f1": 0.927, "auc": 0.963, "accuracy": 0.927},
    ("ag_news", "lstm", "additive"): {"f1": 0.958, "auc": 0.990, "accuracy": 0.958},
    ("ag_news", "lstm", "dot"): {"f1": 0.962, "auc": 0.989, "accuracy": 0.962},
    ("ag_news", "cnn", "additive"): {"f1": 0.958, "auc": 0.990, "accuracy": 0.958},
    ("ag_news", "cnn", "dot"): {"f1": 0.956, "auc": 0.990, "accuracy": 0.956},
    ("ag_news", "average", "additive"): {"f1": 0.955, "auc": 0.988, "accuracy": 0.954},
    ("ag_news", "average", "dot"): {"f1": 0.956, "auc": 0.987, "accuracy": 0.956},
    ("diabetes", "lstm", "additive"): {"f1": 0.754, "auc": 0.938, "accuracy": 0.880},
    ("diabetes", "lstm", "dot"): {"f1": 0.685, "auc": 0.901, "accuracy": 0.859},
    ("diabetes", "cnn", "additive"): {"f1": 0.707, "auc": 0.935, "accuracy": 0.848},
    ("diabetes", "cnn", "dot"): {"f1": 0.753, "auc": 0.931, "accuracy": 0.885},
    ("diabetes", "average", "additive"): {"f1": 0.699, "auc": 0.928, "accuracy": 0.847},
    ("diabetes", "average", "dot"): {"f1": 0.481, "auc": 0.750, "accuracy": 0.718},
    ("anemia", "lstm", "additive"): {"f1": 0.923, "auc": 0.974, "accuracy": 0.906},
    ("anemia", "lstm", "dot"): {"f1": 0.880, "auc": 0.955, "accuracy": 0.859},
    ("anemia", "cnn", "additive"): {"f1": 0.929, "auc": 0.972, "accuracy": 0.912},
    ("anemia", "cnn", "dot"): {"f1": 0.938, "auc": 0.969, "accuracy": 0.922},
    ("anemia", "average", "additive"): {"f1": 0.927, "auc": 0.963, "accuracy": 0.906},
    ("anemia", "average", "dot"): {"f1": 0.901, "auc": 0.956, "accuracy": 0.880},
    ("cnn", "lstm", "additive"): {"accuracy": 0.644},
    ("cnn", "lstm", "dot"): {"accuracy": 0.466},
    ("cnn", "cnn", "additive"): {"accuracy": 0.614},
    ("cnn", "cnn", "dot"): {"accuracy": 0.640},
    ("cnn", "average", "additive"): {"accuracy": 0.367},
    ("cnn", "average", "dot"): {"accuracy": 0.372},
    ("babi_1", "lstm", "additive"): {"accuracy": 1.000},
    ("babi_1", "lstm", "dot"): {"accuracy": 0.998},
    ("babi_1", "cnn", "additive"): {"accuracy": 0.887},
    ("babi_1", "cnn", "dot"): {"accuracy": 0.889},
    ("babi_1", "average", "additive"): {"accuracy": 0.436},
    ("babi_1", "average", "dot"): {"accuracy": 0.430},
    ("babi_2", "lstm", "additive"): {"accuracy": 0.653},
    ("babi_2", "lstm", "dot"): {"accuracy": 0.427},
    ("babi_2", "cnn", "additive"): {"accuracy": 0.333},
    ("babi_2", "cnn", "dot"): {"accuracy": 0.340},
    ("babi_2", "average", "additive"): {"accuracy": 0.167},
    ("babi_2", "average", "dot"): {"accuracy": 0.314},
    ("babi_3", "lstm", "additive"): {"accuracy": 0.643},
    ("babi_3", "lstm", "dot"): {"accuracy": 0.515},
    ("babi_3", "cnn", "additive"): {"accuracy": 0.294},
    ("babi_3", "cnn", "dot"): {"accuracy": 0.288},
    ("babi_3", "average", "additive"): {"accuracy": 0.320},
    ("babi_3", "average", "dot"): {"accuracy": 0.316},
    ("snli", "lstm", "additive"): {"accuracy": 0.779},
    ("snli", "lstm", "dot"): {"accuracy": 0.766},
    ("snli", "cnn", "additive"): {"accuracy": 0.775},
    ("snli", "cnn", "dot"): {"accuracy": 0.779},
    ("snli", "average", "additive"): {"accuracy": 0.750},
    ("snli", "average", "dot"): {"accuracy": 0.753},
}  # fmt: skip

# By the two measures that are compared, as the audit names them.
RELEASED_TAUS: Final = {
    "attention_gradient": RELEASED_GRADIENT,
    "attention_loo": RELEASED_LEAVE_ONE_OUT,
    "gradient_loo": RELEASED_GRADIENT_LEAVE_ONE_OUT,
}
