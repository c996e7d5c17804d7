import type { DatabaseSync, SQLInputValue, SQLTagStore } from 'node:sqlite';

import { inTransaction } from './database.mts';

/** All times are Unix seconds, as in the subscription record. */
export interface User {
	id: string;
	email: string;
	firstName: string;
	lastName: string;
	/** Credits from plan upgrades with an `aiTokenId`. */
	aiCredits: number;
	created: number;
	/** The subscription record of the specification (§2). */
	subscription: { plan_id: string } | null;
}

export interface Section {
	id: string;
	/** `summary`, `experience`, `education`, `skills` or any other word. */
	type: string;
	title: string;
	/** Plain text, one entry a line. */
	content: string;
	/** The other fields that the section was created with. */
	[field: string]: unknown;
}

export interface Resume {
	id: string;
	userId: string;
	title: string;
	created: number;
	updated: number;
	sections: Section[];
	/** The other fields that the resume was created with. */
	[field: string]: unknown;
}

/** The body of a request to create a resume. */
export interface NewResume {
	title?: string;
	sections?: Array<Partial<Section>>;
	[field: string]: unknown;
}

/** A request to upgrade a plan. Its fields may have any type if it is refused. */
export interface UpgradeRequest {
	email?: unknown;
	planId?: unknown;
	aiTokenId?: unknown;
	/** The name of the key. */
	apiKey: string;
	/** Reason for the refusal. A request without it bills. */
	errorCode?: string;
}

/** All data access to users, resumes and plans, for the API and the web pages. */
export class Store {
	readonly #sql: SQLTagStore;

	constructor(database: DatabaseSync) {
		this.#sql = database.createTagStore();
	}

	listUsers(): User[] {
		return this.#sql.all`SELECT id FROM users ORDER BY rowid`.map(({ id }) => this.findUser(id!)!);
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

	/** Compares without regard to case. */
	findUserByEmail(email: string): User | undefined {
		return this.findUser(this.#sql.get`SELECT id FROM users WHERE email = ${email}`?.id ?? null);
	}

	/** Returns the resumes without their sections. */
	listResumes(userId: string) {
		return this.#sql.all`SELECT id, user_id AS userId, title, created, updated, extra
			FROM resumes WHERE user_id = ${userId} ORDER BY rowid`.map(withExtra<Omit<Resume, 'sections'>>);
	}

	findResume(id: string): Resume | undefined {
		const row = this.#sql.get`SELECT id, user_id AS userId, title, created, updated, extra
			FROM resumes WHERE id = ${id}`;
		const sections = this.#sql.all`SELECT id, type, title, content, extra
			FROM sections WHERE resume_id = ${id} ORDER BY position`;
		return row && { ...withExtra<Resume>(row), sections: sections.map(withExtra<Section>) };
	}

	createResume(userId: string, resume: NewResume): Resume {
		return inTransaction(this.#sql.db, () => this.findResume(this.addResume(userId, resume))!);
	}

	/** Adds a resume in the caller's transaction, and returns its ID. */
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

	/** Changes the given fields. Returns the `data` of the event. */
	saveSection(number: number, { title, content }: Partial<Section>) {
		const row = this.#sql.get`UPDATE sections
			SET title = coalesce(${title ?? null}, title), content = coalesce(${content ?? null}, content)
			WHERE rowid = ${number} RETURNING resume_id AS resumeId, id, type, title, content, extra`;
		if (row === undefined) return undefined;
		const { resumeId, ...section } = row;
		const { userId } = this.#sql.get`UPDATE resumes SET updated = ${unixTime()}
			WHERE id = ${resumeId!} RETURNING user_id AS userId`!;
		return { userId, resumeId, section: withExtra<Section>(section) };
	}

	/** Returns the last hundred requests to upgrade a plan whose email, plan or error has the text, the newest first. */
	listUpgradeRequests(text = '') {
		return this.#sql.all`SELECT email, plan_id AS planId, ai_token_id AS aiTokenId,
			api_key AS apiKey, error_code AS errorCode, created
			FROM upgrade_requests
			WHERE instr(lower(concat_ws(' ', email, plan_id, ai_token_id, error_code)), lower(${text}))
			ORDER BY id DESC LIMIT 100`;
	}

	/** Returns the number of upgrades that were billed. */
	countUpgrades(): number {
		return Number(this.#sql.get`SELECT count(*) AS count FROM upgrades`!.count);
	}

	addUpgradeRequest(request: UpgradeRequest, now = unixTime()): void {
		const { email, planId, aiTokenId, apiKey, errorCode = null } = request;
		this.#sql.run`INSERT INTO upgrade_requests
			(email, plan_id, ai_token_id, api_key, error_code, created) VALUES (${textOrNull(email)},
				${textOrNull(planId)}, ${textOrNull(aiTokenId)}, ${apiKey}, ${errorCode}, ${now})`;
	}

	/** Puts a user on a plan from now on, which bills. Returns the subscription. */
	upgradeSubscription({ id }: User, days: number, credits: number, request: UpgradeRequest) {
		const sql = this.#sql;
		const planId = String(request.planId);
		const now = unixTime();
		const end = now + days * 24 * 60 * 60;
		return inTransaction(sql.db, () => {
			sql.run`INSERT INTO subscriptions VALUES (${id}, ${planId}, 'active', ${now}, ${now}, ${end})
				ON CONFLICT (user_id) DO UPDATE SET plan_id = excluded.plan_id, status = excluded.status,
					current_period_start = excluded.current_period_start,
					current_period_end = excluded.current_period_end`;
			sql.run`UPDATE users SET ai_credits = ai_credits + ${credits} WHERE id = ${id}`;
			this.addUpgradeRequest(request, now);
			return this.findUser(id)?.subscription;
		});
	}
}

/** Adds the other fields to a record. The record's own fields win, and come first. */
function withExtra<Found>({ extra, ...fields }: Record<string, SQLInputValue>): Found {
	return { ...fields, ...(JSON.parse(String(extra)) as object), ...fields } as Found;
}

function textOrNull(value: unknown): string | null {
	return typeof value === 'string' ? value : null;
}

export function unixTime(): number {
	return Math.floor(Date.now() / 1000);
}
