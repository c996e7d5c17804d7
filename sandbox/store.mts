import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

import { inTransaction } from './database.mts';

/** The subscription record of the specification (§2); times are Unix timestamps in seconds. */
export interface Subscription {
	created: number;
	current_period_start: number;
	current_period_end: number;
	status: string;
	plan_id: string;
}

export interface User {
	id: string;
	email: string;
	firstName: string;
	lastName: string;
	/** Credits attached by plan upgrades that carried an `aiTokenId`. */
	aiCredits: number;
	/** Unix timestamp in seconds. */
	created: number;
	subscription: Subscription | null;
}

export interface Section {
	id: string;
	/** `summary`, `experience`, `education`, `skills` or any other word. */
	type: string;
	title: string;
	/** Plain text, one entry a line. */
	content: string;
	/** Further fields that came with the section. */
	[field: string]: unknown;
}

export interface ResumeSummary {
	id: string;
	userId: string;
	title: string;
	/** Unix timestamp in seconds. */
	created: number;
	/** Unix timestamp in seconds. */
	updated: number;
	/** Further fields that came with the resume. */
	[field: string]: unknown;
}

export interface Resume extends ResumeSummary {
	sections: Section[];
}

export interface NewSection {
	type: string;
	title: string;
	content: string;
	extra: Record<string, unknown>;
}

export interface NewResume {
	title: string;
	sections: NewSection[];
	/** Fields that the sandbox has no use for; they are kept and come back on reads. */
	extra: Record<string, unknown>;
}

export interface Plan {
	id: string;
	name: string;
	periodDays: number;
	/** The payment provider refuses every payment for this plan. */
	paymentFails: boolean;
}

export interface AiToken {
	id: string;
	credits: number;
}

/** What of a section can be edited; a missing field stays as it is. */
export interface SectionFields {
	title?: string;
	/** Plain text, one entry a line. */
	content?: string;
}

export interface SavedSection {
	userId: string;
	resumeId: string;
	/** As a later read of the resume returns it. */
	section: Section;
}

/** A part of a list: how many records to pass over, how many to return, words to look for. */
export interface Slice {
	offset: number;
	/** All remaining records when it is missing. */
	limit?: number;
	/** Case-insensitive part of the e-mail address or name (users), or of the title (resumes). */
	search?: string;
}

export type Store = ReturnType<typeof createStore>;

const DAY_IN_SECONDS = 24 * 60 * 60;

const USER = `
	SELECT users.id, email, first_name AS firstName, last_name AS lastName,
		ai_credits AS aiCredits, users.created,
		CASE WHEN plan_id IS NOT NULL THEN json_object(
			'created', subscriptions.created,
			'current_period_start', current_period_start,
			'current_period_end', current_period_end,
			'status', status,
			'plan_id', plan_id
		) END AS subscription
	FROM users LEFT JOIN subscriptions ON user_id = users.id`;

const USER_MATCHES = "instr(lower(email || ' ' || first_name || ' ' || last_name), lower(?)) > 0";

const RESUME = 'SELECT id, user_id AS userId, title, created, updated, extra FROM resumes';

const PLAN = 'SELECT id, name, period_days AS periodDays, payment_fails AS paymentFails FROM plans';

/** All data access of the sandbox, for the API and for pages beside it. */
export function createStore(database: DatabaseSync) {
	const users = database.prepare(
		`${USER} WHERE ${USER_MATCHES} ORDER BY users.rowid LIMIT ? OFFSET ?`,
	);
	const countUsers = database.prepare(`SELECT count(*) AS count FROM users WHERE ${USER_MATCHES}`);
	const userById = database.prepare(`${USER} WHERE users.id = ?`);
	const userByEmail = database.prepare(`${USER} WHERE email = ?`);
	const resumesOfUser = database.prepare(
		`${RESUME} WHERE user_id = ? AND instr(lower(title), lower(?)) > 0
		ORDER BY rowid LIMIT ? OFFSET ?`,
	);
	const resumeById = database.prepare(`${RESUME} WHERE id = ?`);
	const sectionsOfResume = database.prepare(
		'SELECT id, type, title, content, extra FROM sections WHERE resume_id = ? ORDER BY position',
	);
	const saveSection = database.prepare(
		`UPDATE sections SET title = coalesce(?, title), content = coalesce(?, content)
		WHERE id = ? RETURNING resume_id AS resumeId, id, type, title, content, extra`,
	);
	const touchResume = database.prepare(
		'UPDATE resumes SET updated = ? WHERE id = ? RETURNING user_id AS userId',
	);
	const plans = database.prepare(`${PLAN} ORDER BY rowid`);
	const planById = database.prepare(`${PLAN} WHERE id = ?`);
	const aiTokens = database.prepare('SELECT id, credits FROM ai_tokens ORDER BY credits');
	const aiTokenById = database.prepare('SELECT credits FROM ai_tokens WHERE id = ?');
	const countResumes = database.prepare('SELECT count(*) AS count FROM resumes');
	const countSections = database.prepare('SELECT count(*) AS count FROM sections');
	const writeResume = resumeWriter(database);
	const upsertSubscription = database.prepare(
		`INSERT INTO subscriptions
			(user_id, plan_id, status, created, current_period_start, current_period_end)
		VALUES (?, ?, 'active', ?, ?, ?)
		ON CONFLICT (user_id) DO UPDATE SET
			plan_id = excluded.plan_id,
			status = excluded.status,
			current_period_start = excluded.current_period_start,
			current_period_end = excluded.current_period_end`,
	);
	const addCredits = database.prepare('UPDATE users SET ai_credits = ai_credits + ? WHERE id = ?');
	const insertUpgrade = database.prepare(
		'INSERT INTO upgrades (email, plan_id, ai_token_id, created) VALUES (?, ?, ?, ?)',
	);

	const store = {
		listUsers({ offset, limit = -1, search = '' }: Slice): User[] {
			return users.all(search, limit, offset).map(toUser);
		},

		countUsers(search: string): number {
			return Number(countUsers.get(search)?.count);
		},

		findUser(id: string): User | undefined {
			return mapRow(userById.get(id), toUser);
		},

		/** Letter case makes no difference. */
		findUserByEmail(email: string): User | undefined {
			return mapRow(userByEmail.get(email), toUser);
		},

		listResumes(userId: string, { offset, limit = -1, search = '' }: Slice): ResumeSummary[] {
			return resumesOfUser.all(userId, search, limit, offset).map(toResumeSummary);
		},

		findResume(id: string): Resume | undefined {
			return mapRow(resumeById.get(id), (row) => ({
				...toResumeSummary(row),
				sections: sectionsOfResume.all(id).map(toSection),
			}));
		},

		/** @returns the resume as a later read returns it */
		createResume(userId: string, resume: NewResume, now = unixTime()): Resume {
			return inTransaction(database, () => {
				const before = {
					resumes: Number(countResumes.get()?.count),
					sections: Number(countSections.get()?.count),
				};
				const id = writeResume(userId, resume, before, now);
				return store.findResume(id) as Resume;
			});
		},

		/**
		 * To be run in a transaction.
		 *
		 * @returns `undefined` when there is no such section
		 */
		saveSection(
			id: string,
			{ title, content }: SectionFields,
			now = unixTime(),
		): SavedSection | undefined {
			return mapRow(saveSection.get(title ?? null, content ?? null, id), (row) => {
				const { resumeId, ...section } = row;
				const userId = String(touchResume.get(now, String(resumeId))?.userId);
				return { userId, resumeId: String(resumeId), section: toSection(section) };
			});
		},

		listPlans(): Plan[] {
			return plans.all().map(toPlan);
		},

		findPlan(id: string): Plan | undefined {
			return mapRow(planById.get(id), toPlan);
		},

		listAiTokens(): AiToken[] {
			return aiTokens.all() as unknown as AiToken[];
		},

		/** @returns how many AI credits the token stands for, `undefined` for an unknown token */
		findAiCredits(aiTokenId: string): number | undefined {
			return mapRow(aiTokenById.get(aiTokenId), (row) => Number(row.credits));
		},

		/**
		 * Puts a user on a plan from now on and notes in `upgrades` that this was billed.
		 *
		 * @returns the user's new subscription
		 */
		upgradeSubscription(
			user: User,
			plan: Plan,
			aiTokenId: string | undefined,
			now = unixTime(),
		): Subscription {
			return inTransaction(database, () => {
				upsertSubscription.run(user.id, plan.id, now, now, now + plan.periodDays * DAY_IN_SECONDS);
				if (aiTokenId !== undefined) addCredits.run(store.findAiCredits(aiTokenId) ?? 0, user.id);
				insertUpgrade.run(user.email, plan.id, aiTokenId ?? null, now);
				return store.findUser(user.id)?.subscription as Subscription;
			});
		},
	};
	return store;
}

/** Writes a resume, to be run in a transaction, where there are `before` so many; answers its ID. */
export function resumeWriter(database: DatabaseSync) {
	const insertResume = database.prepare(
		`INSERT INTO resumes (id, user_id, title, created, updated, extra) VALUES (?, ?, ?, ?, ?, ?)`,
	);
	const insertSection = database.prepare(
		`INSERT INTO sections (id, resume_id, position, type, title, content, extra)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
	);
	return (
		userId: string,
		resume: NewResume,
		before: { resumes: number; sections: number },
		now: number,
	): string => {
		const id = `resume-${serial(before.resumes + 1, 3)}`;
		insertResume.run(id, userId, resume.title, now, now, JSON.stringify(resume.extra));
		for (const [position, section] of resume.sections.entries()) {
			insertSection.run(
				sectionId(before.sections + 1 + position),
				id,
				position,
				section.type,
				section.title,
				section.content,
				JSON.stringify(section.extra),
			);
		}
		return id;
	};
}

/** @param number counted from 1 over all resumes */
export function sectionId(number: number): string {
	return `section-${serial(number, 4)}`;
}

type Row = Record<string, SQLInputValue>;

function mapRow<Result>(row: Row | undefined, map: (row: Row) => Result): Result | undefined {
	return row === undefined ? undefined : map(row);
}

function toUser({ subscription, ...user }: Row): User {
	return {
		...(user as unknown as Omit<User, 'subscription'>),
		subscription: subscription ? (JSON.parse(String(subscription)) as Subscription) : null,
	};
}

function toResumeSummary(row: Row): ResumeSummary {
	return withExtra(row) as ResumeSummary;
}

function toSection(row: Row): Section {
	return withExtra(row) as Section;
}

function toPlan(row: Row): Plan {
	return { ...(row as unknown as Plan), paymentFails: row.paymentFails === 1 };
}

/** The record's own fields first, and never replaced by a field of the same name that came along. */
function withExtra({ extra, ...fields }: Row): Record<string, unknown> {
	return { ...fields, ...(JSON.parse(String(extra)) as Record<string, unknown>), ...fields };
}

function serial(number: number, digits: number): string {
	return String(number).padStart(digits, '0');
}

function unixTime(): number {
	return Math.floor(Date.now() / 1000);
}
