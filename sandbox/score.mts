import type { Section } from './store.mts';

export interface ScorePart {
	/** What is judged. */
	name: string;
	/** 0 to `maximum`. */
	points: number;
	maximum: number;
}

export interface Score {
	/** Sum of the parts' points, 0 to 100. */
	score: number;
	parts: ScorePart[];
}

/** Judges a resume by its sections alone: the same sections always have the same score. */
export function scoreResume(sections: readonly Section[]): Score {
	const textOf = (type: string) =>
		sections
			.filter((section) => section.type === type)
			.map((section) => section.content)
			.join('\n');
	const experience = textOf('experience');
	const skills = textOf('skills')
		.split(/[,\n]/)
		.filter((skill) => skill.trim() !== '');
	const results = experience.split('\n').filter((line) => /^-.*\d/.test(line));

	const parts = [
		part('summary', 15, wordsIn(textOf('summary')) / 15),
		part('experience', 25, wordsIn(experience) / 30),
		part('measurable results', 20, results.length / 4),
		part('education', 15, wordsIn(textOf('education')) / 5),
		part('skills', 15, skills.length / 8),
		part('further sections', 10, sections.length / 5),
	];
	return { score: parts.reduce((sum, { points }) => sum + points, 0), parts };
}

/** @param share how much of the part is there; more than 1 counts as 1 */
function part(name: string, maximum: number, share: number): ScorePart {
	return { name, points: Math.round(maximum * Math.min(1, share)), maximum };
}

function wordsIn(text: string): number {
	return text.split(/\s+/).filter((word) => word !== '').length;
}
