import type { Section } from './store.mts';

/**
 * Judges a resume by its sections alone: the same sections always have the same score.
 *
 * @returns what is judged, with 0 to `maximum` points, and the sum of these points, 0 to 100
 */
export function scoreResume(sections: readonly Section[]) {
	const textOf = (type: string) =>
		sections.flatMap((section) => (section.type === type ? [section.content] : [])).join('\n');
	const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;
	const experience = textOf('experience');

	const parts = [
		part('summary', 15, count(textOf('summary'), /\S+/g) / 15),
		part('experience', 25, count(experience, /\S+/g) / 30),
		part('measurable results', 20, count(experience, /^-.*\d/gm) / 4),
		part('education', 15, count(textOf('education'), /\S+/g) / 5),
		part('skills', 15, count(textOf('skills'), /[^,\n]*[^,\s][^,\n]*/g) / 8),
		part('further sections', 10, sections.length / 5),
	];
	return { score: parts.reduce((sum, { points }) => sum + points, 0), parts };
}

/** @param share how much of the part is there; more than 1 counts as 1 */
function part(name: string, maximum: number, share: number) {
	return { name, points: Math.round(maximum * Math.min(1, share)), maximum };
}
