import type { FastifyInstance } from 'fastify';

import { planUpgradeErrors, ServiceError } from '../errors.mts';
import { readBody, success } from '../http.mts';
import type { Store } from '../store.mts';

/** Plan upgrade (specification §4.1), with its errors in §7.2. */
export function planRoutes(scope: FastifyInstance, store: Store): void {
	scope.post('/plan/upgrade', { config: { errors: 'planUpgrade' } }, (request) => {
		const { planId, email, aiTokenId } = readBody(request);
		const plan = typeof planId === 'string' ? store.findPlan(planId) : undefined;
		if (plan === undefined) throw planUpgradeErrors.wrongPlan();

		const user = typeof email === 'string' ? store.findUserByEmail(email) : undefined;
		if (user === undefined) {
			throw new ServiceError('sandbox-unknown-email', 'There is no user with this e-mail address.');
		}
		const knowsToken =
			typeof aiTokenId === 'string' && store.findAiCredits(aiTokenId) !== undefined;
		if (aiTokenId !== undefined && !knowsToken) {
			throw new ServiceError('sandbox-unknown-ai-token', 'There is no such aiTokenId.');
		}
		if (plan.paymentFails) throw planUpgradeErrors.paymentFailed();

		return success(store.upgradeSubscription(user, plan, aiTokenId));
	});
}
