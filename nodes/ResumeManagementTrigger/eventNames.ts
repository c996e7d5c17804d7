/*
 * Names that the trigger tries, because the specification shows no payload (§6), in the form of
 * `normalizeName`. Add a name only for a real event of the service: for all others, there are Event
 * Name Path and Event ID Path.
 */

/** The name of an event. */
export const UNAMBIGUOUS_EVENT_NAMES = ['event', 'eventtype', 'eventname'];

/**
 * As {@link UNAMBIGUOUS_EVENT_NAMES}, and last `type`, because it often names the kind of message,
 * or of a part of a resume.
 */
export const EVENT_NAMES = [...UNAMBIGUOUS_EVENT_NAMES, 'type'];

/** A list of events in one delivery. */
export const BATCHES = ['events'];

export const EVENT_IDS = ['eventid'];

/** The ID of an event beside its name and `data`. Elsewhere, `id` may be the ID of a resume. */
export const ENVELOPE_IDS = [...EVENT_IDS, 'id'];
