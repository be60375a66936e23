# SPDX-License-Identifier: BSD-3-Clause
"""Links operators to their kernels: operators and facts -> the chain from the dispatcher's entry to the code on the device.

Words used here: a *body* is a function's body, read once; a *spot* is a call in it as its text has it, a *site* the same call once it is known,
for one device, what it enters. A *way* leads from a function over sites (its *hops*) to the code that runs on the device, and has a *cost*: the
cheapest is the likeliest. A *chain* is the way of an operator on one dispatch key as the atlas shows it, one *step* a symbol.
"""
