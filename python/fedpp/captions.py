"""What a colleague who was not there has to know to read a figure: a title and a few sentences, by what the run holds."""

import math

from .scores import client_distances, hostile_clients, ks_limit, mean_similarities, similarity_text

ALIKE = 0.9  # mean similarity between communities above which they need not mean anything, as 'fedpp train' says it

HISTORY = ("decay", "lstm", "attention")  # encoders that see a sequence's past


def graph(result, h5):
    within, between = mean_similarities(h5["graph/community"][()], h5["graph/weights"][()])
    text = ("How similar the server finds any two clients after the last round, by what their kernels make of the same probe points: 1 is the same, 0 nothing in "
            "common. Framed: the communities. Groups are there where frames are clearly brighter than what lies between them; the search for communities "
            "always ends with some, and splits clients that are all alike into halves.")
    if between > ALIKE:
        text += f" Here clients of different communities are nearly as similar ({between:.3f} on average) as those of one ({similarity_text(within)}): these communities need not mean anything."
    return text


def intensities(result, h5):
    curves = list(h5["curves"].values())
    text = "The rate of events that the model believes in, with the band that holds it with 90 % probability"
    if any("histogram_rate" in curve for curve in curves):
        text += ", beside a plain histogram of the training events"
    if any("train_events" in curve for curve in curves):
        text += ". Ticks below are event times, a row each for training, validation and test: evaluation.curve_events wrote them, so this page holds data of clients."
        if any("train_ends" in curve for curve in curves):
            text += " Shaded: past the training windows, darker past those for validation; where a curve is of several sequences, the more of them are past, the darker."
        if any("gaps" in curve for curve in curves):
            text += " Hatched: no sequence shown was observed there, so that the curve is told by its neighbours alone."
        return text
    text += ". Event times are not written, nor exactly where training windows end: only evaluation.curve_events = true does that."
    if ((result.get("config") or {}).get("model") or {}).get("encoder") in HISTORY:
        text += " But the curves of this encoder jump at each event of the sequence shown, so they tell them to whoever looks."
    return text


def calibration(result, h5):
    text = ("If the model were right, the test events, measured in units of the expected number of events, would be one apart on average "
            "and exponentially distributed. The curves should follow the dashed line")
    summary = result.get("calibration") or {}
    limit = ks_limit(summary.get("increments"))
    if summary.get("ks") is None or math.isnan(limit):
        return text + "."
    text += (f", and would stay within the grey band in 95 % of cases. They stray by {summary['ks']:.3f} at most (the Kolmogorov-Smirnov distance), which is "
             f"{'more than chance explains' if summary['ks'] > limit else 'no more than chance would give'}: the band is {limit:.3f} wide on either side, "
             f"for {summary['increments']:,} increments.")
    known = [(ks, its) for _, ks, its in client_distances(summary) if math.isfinite(its)]
    if known:
        text += f" Clients beyond their own bands: {sum(ks > its for ks, its in known)} of {len(known)} (5 % would be by chance); the bands are wide where events are few."
        text += " Hostile ones are among them." if hostile_clients(result) else ""
    return text


CAPTIONS = {
    "convergence": ("Convergence", "Above: how much better than a constant rate the clients' models explain their training events, each client at its latest "
                    "participation. Below: the score on held-out events between rounds, by which the best round is chosen."),
    "intensities": ("Intensities", intensities),
    "scores": ("Scores of the clients", "Log-likelihood per test event of every client: further right is better. Coloured bars lead from the best of the simple "
               "models to ours: blue where ours is better, red where it is not."),
    "calibration": ("Calibration", calibration),
    "phases": ("Where the time went", "Seconds of each phase on the slowest rank, since this start of the run: a run that was resumed has had others."),
    "communication": ("What left the ranks", "Counted inside the communication layer: each message once, by what it carried; by kind since this start of the run "
                      "alone, which may have been resumed. The first round of a start includes what came before it, as the configuration. Rounds exchange no event times. Files are not counted: checkpoints hold every client's latent functions."),
    "communities": ("Communities", "Which clients learn from each other under personalised aggregation, round by round: clients of one colour in a column share a prior. Grey: not in the graph."),
    "graph": ("Client graph", graph),
    "next_events": ("Next events", "When each sequence goes on, from the end of its observation, as 'fedpp predict --next-events' wrote it last: from the run's state at that time."),
    "starts": ("Starts", "Where participants' local epochs start between the prior that they received (0) and their own posterior (1): one point a participant."),
}


def title(key):
    return CAPTIONS[key][0]


def caption(key, result, h5):
    text = CAPTIONS[key][1]
    return text(result, h5) if callable(text) else text
