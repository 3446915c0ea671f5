"""What judges and people show together: many verdicts that may be wrong, and few good ones. Pure.

A person's verdict on an answer that came up by lot is a reading. Readings anchor the judges'
figures: the estimate is right whatever the judges' errors are, and the better the judges, the
narrower its interval.

Source: A. N. Angelopoulos, J. C. Duchi, T. Zrnic (2023), PPI++, arXiv:2311.01453; with strata
A. Fisch et al. (2024), arXiv:2406.04291; with unequal chances T. Zrnic, E. J. Candès (2024), Active
Statistical Inference, arXiv:2403.03208.
"""
