# Records what R's package survey says of samples that it comes with: run it by hand to renew.
#
#   Rscript tests/reference/record_survey.R > tests/reference/recorded/survey.json
#
# The samples (api: Californian schools, election: counties in 2004) are those of the package, which
# is free software under the GNU GPL, version 2 or 3.
suppressMessages(library(survey))
data(api)
data(election)

json <- function(value) {
  if (is.list(value)) {
    paste0("{", paste0("\"", names(value), "\": ", sapply(value, json), collapse = ",\n"), "}")
  } else if (is.matrix(value)) {
    paste0("[", paste(apply(value, 1, json), collapse = ",\n"), "]")
  } else {
    text <- if (is.numeric(value)) format(value, digits = 17, trim = TRUE, scientific = FALSE)
            else paste0("\"", value, "\"")
    if (length(text) == 1 && is.null(attr(value, "is.column"))) text
    else paste0("[", paste(text, collapse = ", "), "]")
  }
}
both <- function(formula, design) {
  c(estimate = as.numeric(coef(svytotal(formula, design))),
    se = as.numeric(SE(svytotal(formula, design))),
    mean = as.numeric(coef(svymean(formula, design))),
    mean_se = as.numeric(SE(svymean(formula, design))))
}

stratified <- svydesign(id = ~1, strata = ~stype, fpc = ~fpc, data = apistrat)
# the package's own weights, pw, are rounded to single precision
apistrat$weight <- apistrat$fpc / table(apistrat$stype)[as.character(apistrat$stype)]
with_replacement <- svydesign(id = ~1, strata = ~stype, weights = ~weight, data = apistrat)
weighted <- svyratio(~I(api00 * enroll), ~enroll, stratified)
simple <- svydesign(id = ~1, fpc = ~fpc, data = apisrs)
types <- data.frame(stype = c("E", "H", "M"), Freq = c(4421, 755, 1018))
post <- postStratify(simple, ~stype, types)
joint <- ppsmat(election_jointprob)
ht <- svydesign(id = ~1, fpc = ~p, data = election_pps, pps = joint)
yg <- svydesign(id = ~1, fpc = ~p, data = election_pps, pps = joint, variance = "YG")
wr <- svydesign(id = ~1, weights = ~wt, data = election_pps)

cat(json(list(
  tool = paste("survey", packageVersion("survey")),
  api_stratified = list(
    stratum = as.character(apistrat$stype), value = apistrat$api00, size = apistrat$enroll,
    counts = apistrat$fpc,
    without_replacement = both(~api00, stratified),
    with_replacement = both(~api00, with_replacement),
    per_size = c(as.numeric(coef(weighted)), as.numeric(SE(weighted)))
  ),
  api_simple = list(
    group = as.character(apisrs$stype), value = apisrs$api00, count = 6194,
    without_replacement = both(~api00, simple),
    group_totals = types$Freq,
    post_stratified = both(~api00, post)
  ),
  election = list(
    pi = election_pps$p, Bush = election_pps$Bush, Nader = election_pps$Nader,
    joint = election_jointprob,
    Bush_horvitz_thompson = both(~Bush, ht), Bush_yates_grundy = both(~Bush, yg),
    Bush_with_replacement = both(~Bush, wr), Nader_horvitz_thompson = both(~Nader, ht),
    Nader_yates_grundy = both(~Nader, yg), Nader_with_replacement = both(~Nader, wr)
  )
)), "\n")
