import type { DatabaseSync } from 'node:sqlite';

import { SANDBOX_PLANS } from './catalogue.mts';
import { inTransaction } from './database.mts';
import texts from './seed.json' with { type: 'json' };
import { Store, type NewResume } from './store.mts';

export { SANDBOX_AI_TOKENS, SANDBOX_KEYS, SANDBOX_PLANS } from './catalogue.mts';

/** 1 November 2026, 00:00 UTC: seeded times never depend on the day of the start. */
const SEED_TIME = Date.UTC(2026, 10, 1) / 1000;

const DAY_IN_SECONDS = 24 * 60 * 60;

/** Each user has a name of its own, with letters beyond ASCII on purpose; the rest fills resumes. */
const { names, professions, employers, schools } = texts;

/** Makes resumes of different quality, so that their scores differ. */
const DRAFTS = [
	['summary', 'experience', 'education', 'skills', 'languages'],
	['summary', 'experience', 'education', 'skills', 'certifications'],
	['experience', 'education', 'skills'],
	['summary', 'experience', 'education'],
] as const;

/** As many users have a name of their own; further ones bear the same names again. */
export const SEED_USERS = names.length;

/**
 * Fills freshly created tables with so many users, 2.5 resumes each and subscriptions for three of
 * four, always the same: the first users do not depend on how many follow.
 */
export function seed(database: DatabaseSync, users: number): void {
	const sql = database.createTagStore();
	const store = new Store(database);
	const { basic, pro } = SANDBOX_PLANS;
	inTransaction(database, () => {
		let resumes = 0;
		for (let index = 0; index < users; index++) {
			const name = at(names, index);
			const [firstName = '', lastName = ''] = name.split(' ');
			const id = `user-${String(index + 1).padStart(3, '0')}`;
			const created = SEED_TIME - (names.length - (index % names.length)) * DAY_IN_SECONDS;
			sql.run`INSERT INTO users (id, email, first_name, last_name, created)
				VALUES (${id}, ${emailOf(name, index)}, ${firstName}, ${lastName}, ${created})`;
			if (index % 4 !== 3) {
				sql.run`INSERT INTO subscriptions VALUES (${id}, ${index % 3 === 0 ? pro : basic},
					'active', ${created}, ${SEED_TIME}, ${SEED_TIME + 30 * DAY_IN_SECONDS})`;
			}
			// None to five resumes a user, in a repeating pattern that begins with one.
			for (let count = (index + 1) % 6; count > 0; count--, resumes++) {
				store.addResume(id, resumeOf(name, resumes), SEED_TIME + resumes * 60);
			}
		}
	});
}

function resumeOf(name: string, number: number): NewResume {
	const profession = at(professions, number);
	const year = 2016 + (number % 6);
	const contents = {
		summary:
			`${profession.role} with ${2026 - year} years of experience. ` +
			`${name} works with care, asks early and finishes what was begun.`,
		experience: [
			`${profession.role}, ${at(employers, number)}, ${year + 3} to today`,
			...profession.tasks.slice(0, 1 + (number % 3)).map((task) => `- ${task}`),
			`Junior ${profession.role}, ${at(employers, number + 3)}, ${year} to ${year + 3}`,
			`- Supported a team of ${3 + (number % 5)} in daily work`,
		].join('\n'),
		education: `${at(schools, number)}, Bachelor, ${year - 3} to ${year}`,
		skills: profession.skills.slice(0, 4 + (number % 5)).join(', '),
		languages: 'English (fluent), German (basic)',
		certifications: `Professional certificate, ${year + 4}`,
	};
	const sections = at(DRAFTS, number).map((type) => ({
		type,
		title: type.charAt(0).toUpperCase() + type.slice(1),
		content: contents[type],
	}));
	return { title: `${name}, ${profession.role}`, sections };
}

/** `Zoë Maes` becomes `zoe.maes@example.com`, and the second of this name `zoe.maes.2@example.com`. */
function emailOf(name: string, index: number): string {
	const plain = name
		.replace(' ', '.')
		.normalize('NFD')
		.replace(/\p{Mark}/gu, '');
	const round = Math.floor(index / names.length);
	const suffix = round === 0 ? '' : `.${round + 1}`;
	return `${plain.toLowerCase().replaceAll('ł', 'l')}${suffix}@example.com`;
}

/** The element at a position that starts over behind the last one. */
function at<Element>(list: readonly Element[], index: number): Element {
	return list[index % list.length] as Element;
}
