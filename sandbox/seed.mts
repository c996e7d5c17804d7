import type { DatabaseSync } from 'node:sqlite';

import { inTransaction } from './database.mts';
import texts from './seed.json' with { type: 'json' };
import { Store, type NewResume } from './store.mts';

/** The private API keys of the sandbox. They are public and open nothing else. */
export const SANDBOX_KEYS = {
	live: 'sandbox_live_key',
	/** May not upgrade plans: `plan-upgrade-3` (specification §4.1). */
	unarranged: 'sandbox_unarranged_key',
};

export const SANDBOX_PLANS = {
	basic: 'plan_basic',
	pro: 'plan_pro',
	premium: 'plan_premium',
	/** The payment provider refuses it: `plan-upgrade-1`. */
	failingPayment: 'plan_failing_payment',
};

/** Credits that each AI token adds with a plan upgrade. */
export const AI_CREDITS = new Map<unknown, number>([
	['ai_tokens_100', 100],
	['ai_tokens_1000', 1_000],
]);

/** 1 November 2026, so that the data are the same every day. */
const SEED_TIME = Date.UTC(2026, 10, 1) / 1000;

const DAY_IN_SECONDS = 24 * 60 * 60;

/** Some names have letters outside of ASCII, to test them. */
const { names, professions, employers, schools } = texts;

/** Sections of the resumes. They differ, so that the scores differ. */
const DRAFTS = [
	['summary', 'experience', 'education', 'skills', 'languages'],
	['summary', 'experience', 'education', 'skills', 'certifications'],
	['experience', 'education', 'skills'],
	['summary', 'experience', 'education'],
] as const;

/** Number of different names. More users get the same names again. */
export const SEED_USERS = names.length;

/** Fills new tables. The first users are the same for every number of users. */
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
			// One to five resumes, then none, and so on.
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

/** Returns `zoe.maes@example.com` for the first Zoë Maes, and `zoe.maes.2@example.com` for the second. */
function emailOf(name: string, index: number): string {
	const letters = name.toLowerCase().replaceAll('ł', 'l').normalize('NFD');
	const plain = letters.replace(/\p{Mark}/gu, '').replace(' ', '.');
	const round = Math.floor(index / names.length) + 1;
	return `${plain}${round > 1 ? `.${round}` : ''}@example.com`;
}

/** Returns an element of a list that repeats endlessly. */
function at<Element>(list: readonly Element[], index: number): Element {
	return list[index % list.length] as Element;
}
