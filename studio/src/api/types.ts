import type { Event, TextDeltaEvent } from './events';

export type * from './events';
export type * from './protocol';
export type { Json, Schema } from './values';

/** Without events whose type is any text: those of later versions. */
type Known<One> = One extends { type: infer Type } ? (string extends Type ? never : One) : never;

/** An event of a run. One of a later version is shown with the fields that it has. */
export type RunEvent = Known<Event>;
/** One that is part of the run's record. */
export type RecordedEvent = Exclude<RunEvent, TextDeltaEvent>;
