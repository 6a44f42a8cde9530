"""The question how many mistakes a perceptron can make.

Begin with `function` (`rosenblatt.mistake_bound`); `solver` computes R, γ and the bounds, also
where no hyperplane separates; `run_reports` has the bound beside a recorded run, and `loops` does
its updates once more. May use `separation`, not the learners: these import it.
"""
