import type { DatabaseSync } from 'node:sqlite';

import { inTransaction } from './database.mts';
import { createStore, type NewSection } from './store.mts';

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

/** `first last`, one a user. Letters beyond ASCII are there on purpose. */
const NAMES = [
	'Emma Larsen|Noah Fischer|Olivia Martin|Liam Novak|Ava Rossi|Ethan Dubois|Sophia Keller',
	'Mason Silva|Isabella Moreau|Lucas Weber|Mia Jansen|Oliver Horvat|Charlotte Evans|Elijah Wagner',
	'Amelia Santos|James Kowalski|Harper Nielsen|Benjamin Costa|Evelyn Schmidt|Henry Popescu',
	'Abigail Murphy|Alexander Berg|Emily Ricci|Daniel Petrov|Ella Lindgren|Michael Okafor',
	'Scarlett Haas|Sebastian Vidal|Grace Tanaka|Jack Brennan|Chloe Marchetti|Owen Svensson',
	'Victoria Lopez|Samuel Dvorak|Riley Andersson|David Mensah|Aria Kaplan|Joseph Laurent',
	'Lily Hoffmann|Carter Ferreira|Zoë Maes|Wyatt Gallagher|Nora Bianchi|Julián Ortega',
	'Hannah Vogel|Levi Marković|Lucy Thornton|Isaac Bakker|Stella Romero|Gabriel Nowak',
	'Maya Iyer|Anthony Leclerc|Aurora Hansen|Dylan Park|Naomi Adeyemi|Leo Castellano',
	'Sadie Whitfield|Adrián Molina|Eliana Brandt|Łukasz Zieliński',
].flatMap((line) => line.split('|'));

const PROFESSIONS = [
	{
		role: 'Software Engineer',
		skills: 'TypeScript, Node.js, SQL, Docker, API design, Testing, Git, Observability',
		tasks: [
			'Led the move of a billing system to 14 services and cut failed payments by 38%',
			'Built a search that answers 2,000 queries a second',
			'Reduced the build from 25 to 6 minutes for a team of 12',
		],
	},
	{
		role: 'Product Manager',
		skills: 'Roadmaps, Interviews, Analytics, SQL, Pricing, Prioritisation',
		tasks: [
			'Launched a self-service plan that brought 1,100 customers in one year',
			'Increased activation from 31% to 46% with four experiments',
			'Coordinated design, sales and engineering across 3 countries',
		],
	},
	{
		role: 'Nurse',
		skills: 'Triage, Patient care, Medication, Documentation, Team leadership',
		tasks: [
			'Cared for up to 8 patients a shift in intensive care',
			'Trained 15 new colleagues in the electronic patient record',
			'Improved the handover checklist, with 20% fewer open questions',
		],
	},
	{
		role: 'Accountant',
		skills: 'Financial statements, Tax, Audit, Spreadsheets, ERP, Forecasting',
		tasks: [
			'Closed the books of 6 companies within 5 working days a month',
			'Saved 240,000 in fees by a new treasury process',
			'Prepared the yearly audit without a finding, three years in a row',
		],
	},
	{
		role: 'Graphic Designer',
		skills: 'Typography, Illustration, Branding, Layout, Prototyping',
		tasks: [
			'Created the visual identity of a festival with 40,000 visitors',
			'Designed 120 pages of a travel guide in ten weeks',
			'Delivered icons that are used in 5 products',
		],
	},
];

const EMPLOYERS = ['Northwind', 'Contoso', 'Fabrikam', 'Initech', 'Globex', 'Umbra Studio', 'Acme'];
const SCHOOLS = [
	'University of Utrecht',
	'TU Graz',
	'University of Leeds',
	'Universidade do Porto',
];

/** Makes resumes of different quality, so that their scores differ. */
const DRAFTS = [
	['summary', 'experience', 'education', 'skills', 'languages'],
	['summary', 'experience', 'education', 'skills', 'certifications'],
	['experience', 'education', 'skills'],
	['summary', 'experience', 'education'],
] as const;

/** Fills freshly created tables: 60 users, 150 resumes, 45 subscriptions, always the same. */
export function seed(database: DatabaseSync): void {
	inTransaction(database, () => {
		seedCatalogue(database);
		seedUsers(database);
	});
	seedResumes(database);
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

function seedUsers(database: DatabaseSync): void {
	const user = database.prepare(
		'INSERT INTO users (id, email, first_name, last_name, created) VALUES (?, ?, ?, ?, ?)',
	);
	const subscription = database.prepare(
		`INSERT INTO subscriptions
			(user_id, plan_id, status, created, current_period_start, current_period_end)
		VALUES (?, ?, 'active', ?, ?, ?)`,
	);
	for (const [index, name] of NAMES.entries()) {
		const [firstName = '', lastName = ''] = name.split(' ');
		const id = userId(index);
		const created = SEED_TIME - (NAMES.length - index) * DAY_IN_SECONDS;
		user.run(id, emailOf(firstName, lastName), firstName, lastName, created);
		if (index % 4 === 3) continue;
		const plan = index % 3 === 0 ? SANDBOX_PLANS.pro : SANDBOX_PLANS.basic;
		subscription.run(id, plan, created, SEED_TIME, SEED_TIME + 30 * DAY_IN_SECONDS);
	}
}

/** None to five resumes a user, in a repeating pattern that begins with one. */
function seedResumes(database: DatabaseSync): void {
	const store = createStore(database);
	let number = 0;
	for (const [index, name] of NAMES.entries()) {
		for (let resume = 0; resume < (index + 1) % 6; resume++) {
			const { role } = at(PROFESSIONS, number);
			store.createResume(
				userId(index),
				{ title: `${name}, ${role}`, sections: sectionsOf(name, number), extra: {} },
				SEED_TIME + number * 60,
			);
			number++;
		}
	}
}

function sectionsOf(name: string, number: number): NewSection[] {
	const profession = at(PROFESSIONS, number);
	const year = 2016 + (number % 6);
	const contents = {
		summary:
			`${profession.role} with ${2026 - year} years of experience. ` +
			`${name} works with care, asks early and finishes what was begun.`,
		experience: [
			`${profession.role}, ${at(EMPLOYERS, number)}, ${year + 3} to today`,
			...profession.tasks.slice(0, 1 + (number % 3)).map((task) => `- ${task}`),
			`Junior ${profession.role}, ${at(EMPLOYERS, number + 3)}, ${year} to ${year + 3}`,
			`- Supported a team of ${3 + (number % 5)} in daily work`,
		].join('\n'),
		education: `${at(SCHOOLS, number)}, Bachelor, ${year - 3} to ${year}`,
		skills: profession.skills
			.split(', ')
			.slice(0, 4 + (number % 5))
			.join(', '),
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

/** `Zoë Maes` becomes `zoe.maes@example.com`. */
function emailOf(firstName: string, lastName: string): string {
	const plain = `${firstName}.${lastName}`.normalize('NFD').replace(/\p{Mark}/gu, '');
	return `${plain.toLowerCase().replaceAll('ł', 'l')}@example.com`;
}

/** The element at a position that starts over behind the last one. */
function at<Element>(list: readonly [Element, ...Element[]] | readonly Element[], index: number) {
	return list[index % list.length] as Element;
}
