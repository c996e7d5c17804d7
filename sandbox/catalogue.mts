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

export const SANDBOX_AI_TOKENS = { small: 'ai_tokens_100', large: 'ai_tokens_1000' };

/** Days that each plan lasts. */
export const PLAN_DAYS = new Map<unknown, number>(
	Object.values(SANDBOX_PLANS).map((id) => [id, id === SANDBOX_PLANS.premium ? 365 : 30]),
);

/** Credits that each AI token attaches to a plan upgrade. */
export const AI_CREDITS = new Map<unknown, number>([
	[SANDBOX_AI_TOKENS.small, 100],
	[SANDBOX_AI_TOKENS.large, 1_000],
]);
