import type { DatabaseSync, SQLInputValue, SQLTagStore } from 'node:sqlite';

import { AI_CREDITS, PLAN_DAYS } from './catalogue.mts';
import { inTransaction } from './database.mts';

/** All times are Unix timestamps in seconds, as in the subscription record of the specification (§2). */
export interface User {
	id: string;
	email: string;
	firstName: string;
	lastName: string;
	/** Credits attached by plan upgrades that carried an `aiTokenId`. */
	aiCredits: number;
	created: number;
	subscription: {
		created: number;
		current_period_start: number;
		current_period_end: number;
		status: string;
		plan_id: string;
	} | null;
}

/** Further fields that came along are kept in it. */
export interface Section {
	id: string;
	/** `summary`, `experience`, `education`, `skills` or any other word. */
	type: string;
	title: string;
	/** Plain text, one entry a line. */
	content: string;
	[field: string]: unknown;
}

/** Further fields that came along are kept in it. */
export interface Resume {
	id: string;
	userId: string;
	title: string;
	created: number;
	updated: number;
	sections: Section[];
	[field: string]: unknown;
}

/** What a request to create a resume holds; all of it may be missing. */
export interface NewResume {
	title?: string;
	sections?: Array<{ type?: string; title?: string; content?: string }>;
	[field: string]: unknown;
}

/** All data access to users, resumes and plans, for the API and the console. */
export class Store {
	readonly #sql: SQLTagStore;

	constructor(database: DatabaseSync) {
		this.#sql = database.createTagStore();
	}

	/**
	 * Users in their order.
	 *
	 * @param search part of the e-mail address or name, whatever its letter case
	 * @returns so many of them, and how many there are
	 */
	listUsers(offset = 0, limit = Infinity, search = ''): { users: User[]; total: number } {
		const found = this.#sql.all`SELECT id FROM users
			WHERE instr(lower(email || ' ' || first_name || ' ' || last_name), lower(${search})) > 0
			ORDER BY rowid`;
		const part = found.slice(offset, offset + limit);
		return { users: part.map(({ id }) => this.findUser(id!) as User), total: found.length };
	}

	findUser(id: SQLInputValue): User | undefined {
		const row = this.#sql.get`SELECT users.id, email, first_name AS firstName,
				last_name AS lastName, ai_credits AS aiCredits, users.created,
				iif(plan_id IS NULL, NULL, json_object('created', subscriptions.created,
					'current_period_start', current_period_start,
					'current_period_end', current_period_end, 'status', status, 'plan_id', plan_id)
				) AS subscription
			FROM users LEFT JOIN subscriptions ON user_id = users.id WHERE users.id = ${id}`;
		return row && ({ ...row, subscription: JSON.parse(String(row.subscription)) } as User);
	}

	/** Letter case makes no difference. */
	findUserByEmail(email: string): User | undefined {
		return this.findUser(this.#sql.get`SELECT id FROM users WHERE email = ${email}`?.id ?? null);
	}

	/** @returns them without their sections */
	listResumes(userId: string): Array<Pick<Resume, 'id' | 'title' | 'updated'>> {
		return this.#sql.all`SELECT id, user_id AS userId, title, created, updated, extra
			FROM resumes WHERE user_id = ${userId} ORDER BY rowid`.map(withExtra<Resume>);
	}

	findResume(id: string): Resume | undefined {
		const row = this.#sql.get`SELECT id, user_id AS userId, title, created, updated, extra
			FROM resumes WHERE id = ${id}`;
		const sections = this.#sql.all`SELECT id, type, title, content, extra
			FROM sections WHERE resume_id = ${id} ORDER BY position`;
		return row && { ...withExtra<Resume>(row), sections: sections.map(withExtra<Section>) };
	}

	/** @returns the resume as a later read returns it */
	createResume(userId: string, resume: NewResume): Resume {
		return inTransaction(this.#sql.db, () => this.findResume(this.addResume(userId, resume))!);
	}

	/** To be run in a transaction; answers the new ID. */
	addResume(userId: string, resume: NewResume, now = unixTime()): string {
		const { title = 'Untitled resume', sections = [], ...extra } = resume;
		const row = this.#sql.get`INSERT INTO resumes VALUES (
			'resume-' || printf('%03d', (SELECT ifnull(max(rowid), 0) + 1 FROM resumes)),
			${userId}, ${title}, ${now}, ${now}, ${JSON.stringify(extra)}) RETURNING id`;
		const id = row!.id as string;
		for (const [position, section] of sections.entries()) {
			const { type = 'other', title = type, content = '', ...more } = section;
			this.#sql.run`INSERT INTO sections VALUES (
				'section-' || printf('%04d', (SELECT ifnull(max(rowid), 0) + 1 FROM sections)),
				${id}, ${position}, ${type}, ${title}, ${content}, ${JSON.stringify(more)})`;
		}
		return id;
	}

	/**
	 * Changes the fields that are given. To be run in a transaction.
	 *
	 * @returns the section as a later read returns it, and whose it is; `undefined` where there is none
	 */
	saveSection(id: string, { title, content }: Partial<Pick<Section, 'title' | 'content'>>) {
		const row = this.#sql.get`UPDATE sections
			SET title = coalesce(${title ?? null}, title), content = coalesce(${content ?? null}, content)
			WHERE id = ${id} RETURNING resume_id AS resumeId, id, type, title, content, extra`;
		if (row === undefined) return undefined;
		const { resumeId, ...section } = row;
		const { userId } = this.#sql.get`UPDATE resumes SET updated = ${unixTime()}
			WHERE id = ${resumeId!} RETURNING user_id AS userId`!;
		return { userId, resumeId, section: withExtra<Section>(section) };
	}

	/**
	 * Puts a user on a plan from now on and notes in `upgrades` that this was billed.
	 *
	 * @returns the user's new subscription
	 */
	upgradeSubscription({ id, email }: User, planId: string, aiTokenId?: string) {
		const sql = this.#sql;
		const now = unixTime();
		const end = now + PLAN_DAYS.get(planId)! * 24 * 60 * 60;
		return inTransaction(sql.db, () => {
			sql.run`INSERT INTO subscriptions VALUES (${id}, ${planId}, 'active', ${now}, ${now}, ${end})
				ON CONFLICT (user_id) DO UPDATE SET plan_id = excluded.plan_id, status = excluded.status,
					current_period_start = excluded.current_period_start,
					current_period_end = excluded.current_period_end`;
			sql.run`UPDATE users SET ai_credits = ai_credits + ${AI_CREDITS.get(aiTokenId) ?? 0} WHERE id = ${id}`;
			sql.run`INSERT INTO upgrades (email, plan_id, ai_token_id, created)
				VALUES (${email}, ${planId}, ${aiTokenId ?? null}, ${now})`;
			return this.findUser(id)?.subscription;
		});
	}
}

/** The record's own fields first, and never replaced by a field of the same name that came along. */
function withExtra<Found>({ extra, ...fields }: Record<string, SQLInputValue>): Found {
	return { ...fields, ...(JSON.parse(String(extra)) as object), ...fields } as Found;
}

function unixTime(): number {
	return Math.floor(Date.now() / 1000);
}
