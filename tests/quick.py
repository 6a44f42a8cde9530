"""The tests of ``pytest -m quick``: what each room answers, once, in less than a minute."""

# Files, and the tests taken from them (none named: all).
QUICK = {
    "boolean/test_boolean.py": ("test_xor", "test_cover", "test_value_on_every_input"),
    "bounds/test_bounds.py": ("test_two_points", "test_the_trade_is_optimal"),
    "certify/test_certify.py": ("test_xor", "test_half_of_the_plane", "test_says_where"),
    "cli/test_cli.py": ("test_quiet_and_json_and_saving", "test_durations"),
    "cli/test_cli_boolean.py": ("test_exit_code_of_the_process",),
    "cli/test_cli_check.py": ("test_separable", "test_inseparable", "test_verify"),
    "contract/test_input.py": ("test_shapes", "test_not_fitted", "test_one_row_of_each_class"),
    "data/test_blocks_and_rows.py": ("test_pieces_cover_the_order",),
    "exact/test_exact.py": (),
    "features/test_features.py": (
        "test_the_example_of_two_features_and_degree_two",
        "test_cloned_pickled_and_shown",
    ),
    "files/test_files.py": (),
    "files/test_old_files.py": (),
    "kernel/test_kernel_perceptron.py": (
        "test_functions_and_given_values",
        "test_linear_kernel_keeps_what_the_perceptron_keeps",
    ),
    "kernels/test_kernels.py": ("test_values_of_pairs", "test_formulas", "test_refused"),
    "margin/test_margin.py": ("test_two_points", "test_eight_points", "test_the_middle_b"),
    "nearest/test_working_set.py": ("test_widest_margin_of_two_points",),
    "perceptron/test_adaline.py": ("test_one_step_by_hand",),
    "perceptron/test_perceptron_reference.py": ("test_random_start",),
    "perceptron/test_stop_reasons.py": (
        "test_separated",
        "test_xor_goes_round",
        "test_interrupted",
    ),
    "plot/test_plot.py": ("test_line_is_the_hyperplane", "test_mistakes_and_the_reason"),
    "report/test_facts.py": ("test_facts_are_frozen", "test_every_ground_can_be_told"),
    "results/test_hyperplane.py": (),
    "separation/test_separability.py": ("test_two_points", "test_xor_meets_in_the_middle"),
    "tables/test_table_encoder.py": ("test_scikit_learns_checks",),
    "tables/test_tables.py": ("test_the_three_kinds_and_their_arrays", "test_ways_of_writing"),
    "test_datasets.py": ("test_a_dataset_unpacks_and_is_consistent",),
    "test_package.py": (
        "test_import_is_light",
        "test_every_public_name_is_there",
        "test_names_are_sorted_and_unique",
        "test_version",
        "test_quick_tests_are_there",
    ),
    "test_theory.py": (),
}
