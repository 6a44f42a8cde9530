"""The scikit-learn classifiers. Data and parameters are validated here, and only here."""
