import type { DatabaseSync } from 'node:sqlite';

import { inTransaction } from './database.mts';
import texts from './seed.json' with { type: 'json' };
import { resumeWriter, type NewSection } from './store.mts';

/** The private API keys that the sandbox knows. They are public and open nothing else. */
export const SANDBOX_KEYS = {
	/** Everything works. */
	live: 'sandbox_live_key',
	/** Reads and writes work; plan upgrade answers `plan-upgrade-3` (specification §4.1). */
	unarranged: 'sandbox_unarranged_key',
};

export const SANDBOX_PLANS = {
	basic: 'plan_basic',
	pro: 'plan_pro',
	premium: 'plan_premium',
	/** The payment provider refuses it: `plan-upgrade-1`. */
	failingPayment: 'plan_failing_payment',
};

export const SANDBOX_AI_TOKENS = {
	small: 'ai_tokens_100',
	large: 'ai_tokens_1000',
};

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
	inTransaction(database, () => {
		seedCatalogue(database);
		seedUsers(database, users);
		seedResumes(database, users);
	});
}

function seedCatalogue(database: DatabaseSync): void {
	const plan = database.prepare(
		'INSERT INTO plans (id, name, period_days, payment_fails) VALUES (?, ?, ?, ?)',
	);
	plan.run(SANDBOX_PLANS.basic, 'Basic', 30, 0);
	plan.run(SANDBOX_PLANS.pro, 'Pro', 30, 0);
	plan.run(SANDBOX_PLANS.premium, 'Premium', 365, 0);
	plan.run(SANDBOX_PLANS.failingPayment, 'Payment fails', 30, 1);
	const aiToken = database.prepare('INSERT INTO ai_tokens (id, credits) VALUES (?, ?)');
	aiToken.run(SANDBOX_AI_TOKENS.small, 100);
	aiToken.run(SANDBOX_AI_TOKENS.large, 1_000);
}

function seedUsers(database: DatabaseSync, users: number): void {
	const user = database.prepare(
		'INSERT INTO users (id, email, first_name, last_name, created) VALUES (?, ?, ?, ?, ?)',
	);
	const subscription = database.prepare(
		`INSERT INTO subscriptions
			(user_id, plan_id, status, created, current_period_start, current_period_end)
		VALUES (?, ?, 'active', ?, ?, ?)`,
	);
	for (let index = 0; index < users; index++) {
		const [firstName = '', lastName = ''] = at(names, index).split(' ');
		const id = userId(index);
		const created = SEED_TIME - (names.length - (index % names.length)) * DAY_IN_SECONDS;
		user.run(id, emailOf(firstName, lastName, index), firstName, lastName, created);
		if (index % 4 === 3) continue;
		const plan = index % 3 === 0 ? SANDBOX_PLANS.pro : SANDBOX_PLANS.basic;
		subscription.run(id, plan, created, SEED_TIME, SEED_TIME + 30 * DAY_IN_SECONDS);
	}
}

/** None to five resumes a user, in a repeating pattern that begins with one. */
function seedResumes(database: DatabaseSync, users: number): void {
	const write = resumeWriter(database);
	let number = 0;
	let sections = 0;
	for (let index = 0; index < users; index++) {
		const name = at(names, index);
		for (let resume = 0; resume < (index + 1) % 6; resume++) {
			const { role } = at(professions, number);
			const content = sectionsOf(name, number);
			write(
				userId(index),
				{ title: `${name}, ${role}`, sections: content, extra: {} },
				{ resumes: number, sections },
				SEED_TIME + number * 60,
			);
			number++;
			sections += content.length;
		}
	}
}

function sectionsOf(name: string, number: number): NewSection[] {
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
	return at(DRAFTS, number).map((type) => ({
		type,
		title: type.charAt(0).toUpperCase() + type.slice(1),
		content: contents[type],
		extra: {},
	}));
}

function userId(index: number): string {
	return `user-${String(index + 1).padStart(3, '0')}`;
}

/** `Zoë Maes` becomes `zoe.maes@example.com`, and the second of this name `zoe.maes.2@example.com`. */
function emailOf(firstName: string, lastName: string, index: number): string {
	const plain = `${firstName}.${lastName}`.normalize('NFD').replace(/\p{Mark}/gu, '');
	const round = Math.floor(index / names.length);
	const suffix = round === 0 ? '' : `.${round + 1}`;
	return `${plain.toLowerCase().replaceAll('ł', 'l')}${suffix}@example.com`;
}

/** The element at a position that starts over behind the last one. */
function at<Element>(list: readonly [Element, ...Element[]] | readonly Element[], index: number) {
	return list[index % list.length] as Element;
}
