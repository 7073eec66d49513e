/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Module parameters of client and server.
 */
#ifndef _RPCRDMA2_PARAM_H
#define _RPCRDMA2_PARAM_H

#include <linux/moduleparam.h>

/**
 * struct rpcrdma2_param - a module parameter
 * @pm_value: current value; may change at any time
 * @pm_min: minimum
 * @pm_max: maximum
 * @pm_names: names of the values from 0 to @pm_max, or NULL for a number
 * @pm_second: value that may follow behind a colon, or NULL
 * @pm_default: the value that 0 stands for, or NULL
 * @pm_changed: called after a change, or NULL
 */
struct rpcrdma2_param {
	unsigned int		pm_value;
	unsigned int		pm_min;
	unsigned int		pm_max;
	const char *const	*pm_names;
	struct rpcrdma2_param	*pm_second;
	unsigned int		(*pm_default)(void);
	void			(*pm_changed)(void);
};

static inline unsigned int rpcrdma2_param(const struct rpcrdma2_param *pm)
{
	unsigned int value = READ_ONCE(pm->pm_value);

	return value || !pm->pm_default ? value : pm->pm_default();
}

/* Operations for a struct rpcrdma2_param */
extern const struct kernel_param_ops rpcrdma2_param_ops;

/* Names for a parameter that is an enum rpcrdma2_bkreqsup */
extern const char *const rpcrdma2_backward_names[];
/* Names for one that is the only version to use, 0 for any */
extern const char *const rpcrdma2_version_names[];

/*
 * RPCRDMA2_PARAM - define a parameter
 * @_var: its struct rpcrdma2_param, of which the members follow @_desc
 * @_name: its name
 * @_type: its type in the description
 * @_desc: description
 */
#define RPCRDMA2_PARAM(_var, _name, _type, _desc, ...)			\
	struct rpcrdma2_param _var = { __VA_ARGS__ };			\
	module_param_cb(_name, &rpcrdma2_param_ops, &_var, 0644);	\
	__MODULE_PARM_TYPE(_name, _type);				\
	MODULE_PARM_DESC(_name, _desc)

#endif /* _RPCRDMA2_PARAM_H */
