"""The question how many mistakes a perceptron can make.

Begin with `function` (`rosenblatt.mistake_bound`, and the bound beside a recorded run); `solver`
computes R, γ and the bounds, also where no hyperplane separates; `loops` does recorded updates
once more. May use `separation`, not the learners: these import it.
"""
