"""The playground: a local web page on which every algorithm of the library is watched and steered.

Begin with `schemas`, what can be asked, and `answers`, what comes back; `app` is the list of
addresses. The page itself is in `static`. Everything is computed by the library's estimators, the
page draws. May import every room but `cli`.
"""
