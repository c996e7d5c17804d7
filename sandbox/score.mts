import type { Section } from './store.mts';

/** Returns 0 to 100 points for a resume, and the parts that they are the sum of. Only its sections count. */
export function scoreResume(sections: readonly Section[]) {
	const textOf = (type: string) =>
		sections.flatMap((section) => (section.type === type ? [section.content] : [])).join('\n');
	const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;
	const experience = textOf('experience');
	const shares: Array<[name: string, maximum: number, share: number]> = [
		['summary', 15, count(textOf('summary'), /\S+/g) / 15],
		['experience', 25, count(experience, /\S+/g) / 30],
		['measurable results', 20, count(experience, /^-.*\d/gm) / 4],
		['education', 15, count(textOf('education'), /\S+/g) / 5],
		['skills', 15, count(textOf('skills'), /[^,\n]*[^,\s][^,\n]*/g) / 8],
		['further sections', 10, sections.length / 5],
	];
	const parts = shares.map(([name, maximum, share]) => {
		return { name, points: Math.round(maximum * Math.min(1, share)), maximum };
	});
	return { score: parts.reduce((sum, { points }) => sum + points, 0), parts };
}
