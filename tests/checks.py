"""Scikit-learn's checks: all of them once per class, of its variants those that can differ."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

# They look at the class, its tags and how it reads its arguments, which is the same code for all
# variants of a class; the others look at what the loop of a variant has learned.
OF_THE_CLASS = {
    "check_all_zero_sample_weights_error",
    "check_array_api_input(array_namespace=numpy,expect_only_array_outputs=False)",
    "check_classifier_data_not_an_array",
    "check_classifiers_regression_target",
    "check_classifiers_train(readonly_memmap=True)",
    "check_classifiers_train(readonly_memmap=True,X_dtype=float32)",
    "check_complex_data",
    "check_decision_proba_consistency",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_dtype_object",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_sparse_array",  # formats that become CSR before any loop
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimator_tags_renamed",
    "check_estimators_dtypes",
    "check_estimators_empty_data_messages",
    "check_estimators_fit_returns_self",
    "check_estimators_nan_inf",
    "check_estimators_partial_fit_n_features",
    "check_estimators_pickle(readonly_memmap=True)",
    "check_estimators_unfitted",
    "check_f_contiguous_array_estimator",
    "check_fit1d",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_score_takes_y",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_no_attributes_set_in_init",
    "check_nonsquare_error",
    "check_parameters_default_constructible",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_requires_y_none",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
    "check_set_params",
    "check_supervised_y_2d",
    "check_supervised_y_no_nan",
    "check_transformer_data_not_an_array",
    "check_transformer_general(readonly_memmap=True)",
    "check_transformer_n_iter",
    "check_transformers_unfitted",
    "check_valid_tag_types",
}


def every_check(*models, variants=(), exempt=None):
    """All checks of `models`, and of their `variants` those of what is learned."""
    checks = parametrize_with_checks(list(models), expected_failed_checks=exempt).mark
    names, cases = checks.args
    _, others = parametrize_with_checks(list(variants), expected_failed_checks=exempt).mark.args
    name = checks.kwargs["ids"]
    learned = [
        case for case in others if name(getattr(case, "values", case)[1]) not in OF_THE_CLASS
    ]
    return pytest.mark.parametrize(names, [*cases, *learned], **checks.kwargs)
