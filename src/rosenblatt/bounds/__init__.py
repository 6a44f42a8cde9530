"""The question how many mistakes a perceptron can make.

Begin with `function` (`rosenblatt.mistake_bound`); `solver` computes R, γ and the bounds, also
where no hyperplane separates, and `in_features` where a kernel is known by its values;
`run_reports` has the bound beside a recorded run, and `loops` does its updates once more. May use
`separation`, not the learners: these import it.
"""
