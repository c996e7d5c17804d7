import fc from 'fast-check';

/** One of these, each as often as the number before it says. */
export function weighted<T>(...choices: Array<[weight: number, arbitrary: fc.Arbitrary<T>]>) {
	return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

export type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never;
