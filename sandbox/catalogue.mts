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

export interface Plan {
	id: string;
	periodDays: number;
}

export interface AiToken {
	id: string;
	credits: number;
}

export const PLANS: Plan[] = [
	{ id: SANDBOX_PLANS.basic, periodDays: 30 },
	{ id: SANDBOX_PLANS.pro, periodDays: 30 },
	{ id: SANDBOX_PLANS.premium, periodDays: 365 },
	{ id: SANDBOX_PLANS.failingPayment, periodDays: 30 },
];

export const AI_TOKENS: AiToken[] = [
	{ id: SANDBOX_AI_TOKENS.small, credits: 100 },
	{ id: SANDBOX_AI_TOKENS.large, credits: 1_000 },
];
