/* Names of C++ and of Rust (as rustc 1.95 makes them), and names that are neither. */
#include "test.h"

#include "profile/names/demangle.h"

static void assert_name(const char *mangled, const char *expected) {
    struct pt_buf name = { 0 };
    pt_demangle(mangled, &name);
    assert_str_eq(pt_buf_as_str(&name), expected);
    pt_buf_release(&name);
}

static void cplusplus(void **state) {
    (void)state;
    assert_name("_ZN2at6matmulEi", "at::matmul(int)");
    assert_name("_Z3addIiET_S0_S0_", "int add<int>(int, int)");
    assert_name("_ZNSt6vectorIfSaIfEE9push_backEOf",
                "std::vector<float, std::allocator<float> >::push_back(float&&)");
    assert_name("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const");
    assert_name("_ZNK3c106TensorplERKS0_", "c10::Tensor::operator+(c10::Tensor const&) const");
    assert_name("_ZTV1A", "vtable for A");
    assert_name("_ZN12_GLOBAL__N_15innerEv", "(anonymous namespace)::inner()");
}

static void clones(void **state) {
    (void)state;
    assert_name("_Z4workPKfm.constprop.0",
                "work(float const*, unsigned long) [clone .constprop.0]");
    assert_name("_Z4workPKfm.isra.0.cold",
                "work(float const*, unsigned long) [clone .isra.0] [clone .cold]");
    assert_name("_Z4workPKfm._omp_fn.0", "work(float const*, unsigned long) [clone ._omp_fn.0]");
    assert_name("main.cold", "main.cold");
}

static void names_of_c(void **state) {
    (void)state;
    assert_name("", "");
    assert_name("main", "main");
    assert_name("__GI___poll", "__poll");
    assert_name("_Z", "_Z");
    assert_name("_Z99not_a_name", "_Z99not_a_name");
}

static void legacy_rust(void **state) {
    (void)state;
    assert_name("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
    assert_name("_ZN61_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..fmt..Debug$GT$"
                "3fmt17h0123456789abcdefE",
                "<alloc::vec::Vec<T> as core::fmt::Debug>::fmt");
    assert_name("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
                "std::rt::lang_start::{{closure}}");
    assert_name("_ZN4core3fmt5write17h0123456789abcdefE.llvm.123456", "core::fmt::write");
}

static void paths(void **state) {
    (void)state;
    assert_name("_RNvCs6xxl1lAjzDf_1a4dynf", "a::dynf");
    assert_name("_RNvNtNtC1a5outer5inner5plain", "a::outer::inner::plain");
    assert_name("_RNvNtCs3LGw5nGcjh2_19rustc_mir_transform4shim9make_shim",
                "rustc_mir_transform::shim::make_shim");
    assert_name("_RNvCsfLfy6EI15iL_7___rustc35___rust_no_alloc_shim_is_unstable_v2",
                "__rustc::__rust_no_alloc_shim_is_unstable_v2");
    assert_name("_RNvC1a4main.llvm.123456", "a::main");
}

static void impls_and_back_references(void **state) {
    (void)state;
    assert_name(
        "_RNvXs0_NtNtCsgEmfK2I1SDS_4core3fmt8buildersNtB5_10PadAdapterNtB7_5Write9write_str",
        "<core::fmt::builders::PadAdapter as core::fmt::Write>::write_str");
    assert_name("_RNvMNtNtCsinF5g6UsZRS_12rustc_public3mir4monoNtB2_8Instance13is_empty_shim",
                "<rustc_public::mir::mono::Instance>::is_empty_shim");
    assert_name(
        "_RNvXsq_NtCsgEmfK2I1SDS_4core3fmtONtNtB7_3ffi6c_voidNtB5_5Debug3fmtCsjrHSEGnQ3l9_3std",
        "<*mut core::ffi::c_void as core::fmt::Debug>::fmt");
}

static void types(void **state) {
    (void)state;
    assert_name("_RINvCs6xxl1lAjzDf_1a3tupTldReTlEuEEB2_",
                "a::tup::<(i32, f64, &str, (i32,), ())>");
    assert_name("_RINvCs6xxl1lAjzDf_1a3tupFG0_RL1_lQL0_hERL1_lEB2_",
                "a::tup::<for<'a, 'b> fn(&'a i32, &'b mut u8) -> &'a i32>");
    assert_name("_RINvCs6xxl1lAjzDf_1a3tupFKClElEB2_", "a::tup::<extern \"C\" fn(i32) -> i32>");
    assert_name("_RINvCs6xxl1lAjzDf_1a4ptrsSlEB2_", "a::ptrs::<[i32]>");
    assert_name("_RNvMs3_NtCslNYArtu3iFV_5alloc7raw_vecINtB5_6RawVecTOhFUKCBN_EuENtNtCsjrHSEGnQ3l9_"
                "3std5alloc6SystemE8grow_oneB13_",
                "<alloc::raw_vec::RawVec<(*mut u8, unsafe extern \"C\" fn(*mut u8)), "
                "std::alloc::System>>::grow_one");
    assert_name("_RNvXs0_NtCsgEmfK2I1SDS_4core3anyDNtB5_3AnyNtNtB7_6marker4SendEL_NtNtB7_3fmt5Debug"
                "3fmt",
                "<dyn core::any::Any + core::marker::Send as core::fmt::Debug>::fmt");
    assert_name("_RNvYQDNtNtNtNtCsgEmfK2I1SDS_4core4iter6traits8iterator8Iteratorp4ItemThReEEL_B4_5"
                "countCs6xxl1lAjzDf_1a",
                "<&mut dyn core::iter::traits::iterator::Iterator<Item = (u8, &str)> as "
                "core::iter::traits::iterator::Iterator>::count");
}

static void constants(void **state) {
    (void)state;
    assert_name("_RINvCs6xxl1lAjzDf_1a3arrtKj2_EB2_", "a::arr::<u16, 2>");
    assert_name("_RINvCs6xxl1lAjzDf_1a2cgKb1_Kce9_Kln5_EB2_", "a::cg::<true, '\\u{e9}', -5>");
    assert_name("_RINvCs6xxl1lAjzDf_1a2cgKb0_Kca_Kl7_EB2_", "a::cg::<false, '\\n', 7>");
    assert_name("_RINvC1a1fKpKj0_E", "a::f::<_, 0>");
}

static void closures_and_shims(void **state) {
    (void)state;
    assert_name("_RINvCs6xxl1lAjzDf_1a3genNCNvB2_4mains0_0EB2_", "a::gen::<a::main::{closure#2}>");
    assert_name("_RNSNvYNCNvCs6xxl1lAjzDf_1a4main0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceTRe"
                "QShEE9call_once6vtableB8_",
                "<a::main::{closure#0} as core::ops::function::FnOnce<(&str, &mut "
                "[u8])>>::call_once::{shim:vtable#0}");
}

static void letters_of_the_world(void **state) {
    (void)state;
    assert_name("_RINvNvCs6xxl1lAjzDf_1au12gre__wna1lvbu7_1lqs71dlEB4_",
                "a::gr\xc3\xb6\xc3\x9f"
                "e_\xc3\xbc::\xe6\x9d\xb1\xe4\xba\xac::<i32>");
}

static void what_is_no_name_stays_as_it_is(void **state) {
    (void)state;
    static const char *const names[] = {
        "_R",
        "_RNvC1a",                      /* cut off */
        "_RNvC1a9short",                /* more letters than there are */
        "_RNvC1a1f!",                   /* something behind it */
        "_R1NvC1a1f",                   /* a later version */
        "_RNvB_1f",                     /* refers to itself */
        "_RNvBz_1f",                    /* refers to what comes later */
        "_RNvC1au3_-_",                 /* no punycode */
        "_RINvC1a1fKb2_E",              /* neither true nor false */
        "_RNvC18446744073709551616a1f", /* more than a number holds */
        "_RUnrelated",
    };
    for (size_t i = 0; i < PT_COUNT(names); i++)
        assert_name(names[i], names[i]);
}

/* Tuples in tuples, each with what is in it twice: 2^levels of (). */
static void put_doubling(struct pt_buf *mangled, int levels) {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    pt_buf_clear(mangled);
    pt_buf_str(mangled, PT_STR("_RINvC1a1f"));
    for (int i = 0; i < levels; i++)
        pt_buf_str(mangled, PT_STR("T"));
    pt_buf_str(mangled, PT_STR("u"));
    for (int i = levels; i > 0; i--) {
        int at = 8 + i; /* where what is in this tuple begins, behind _R */
        char reference[8];
        snprintf(reference, sizeof reference, at <= 62 ? "B%c_E" : "B1%c_E", digits[(at - 1) % 62]);
        pt_buf_str(mangled, pt_str_from(reference));
    }
    pt_buf_str(mangled, PT_STR("E"));
    pt_buf_u8(mangled, '\0');
}

static struct pt_str repeat(struct pt_buf *into, const char *head, const char *piece, int count) {
    pt_buf_clear(into);
    pt_buf_str(into, pt_str_from(head));
    for (int i = 0; i < count; i++)
        pt_buf_str(into, pt_str_from(piece));
    pt_buf_u8(into, '\0');
    return (struct pt_str){ (const char *)into->at, into->len - 1 };
}

/* f(A<int, int>, A<S0, S0>, A<S1, S1>, ...): each parameter is twice as long as the one before. */
static void put_doubling_cplusplus(struct pt_buf *mangled, int levels) {
    pt_buf_clear(mangled);
    pt_buf_str(mangled, PT_STR("_Z1f1AIiiE"));
    for (int i = 0; i < levels; i++) {
        char digit = (char)(i < 10 ? '0' + i : 'A' + i - 10), parameter[16];
        snprintf(parameter, sizeof parameter, "S_IS%c_S%c_E", digit, digit);
        pt_buf_str(mangled, pt_str_from(parameter));
    }
    pt_buf_u8(mangled, '\0');
}

static void exploding_names_stay_as_they_are(void **state) {
    (void)state;
    struct pt_buf mangled = { 0 };
    put_doubling(&mangled, 2);
    assert_name((const char *)mangled.at, "a::f::<(((), ()), ((), ()))>");
    put_doubling(&mangled, 64);
    assert_name((const char *)mangled.at, (const char *)mangled.at);
    put_doubling_cplusplus(&mangled, 1);
    assert_name((const char *)mangled.at, "f(A<int, int>, A<A<int, int>, A<int, int> >)");
    put_doubling_cplusplus(&mangled, 36);
    assert_name((const char *)mangled.at, (const char *)mangled.at);
    pt_buf_release(&mangled);
}

static void deep_names_stay_as_they_are(void **state) {
    (void)state;
    static const struct {
        const char *head, *piece;
    } names[] = { { "_RINvC1a1f", "S" }, { "_Z1f", "P" }, { "_Z1f", "N1a" }, { "_Z1fI", "1aI" } };
    struct pt_buf mangled = { 0 }, name = { 0 };
    for (size_t i = 0; i < PT_COUNT(names); i++) {
        struct pt_str whole = repeat(&mangled, names[i].head, names[i].piece, 100000);
        pt_demangle(whole.at, &name);
        assert_true(pt_str_eq(pt_buf_as_str(&name), whole));
    }
    pt_buf_release(&mangled);
    pt_buf_release(&name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(cplusplus, "C241: C++: templates, lambdas, operators"),
        PT_TEST(clones, "C241: C++: clones that the compiler made say so"),
        PT_TEST(names_of_c, "C241: names of C stay as they are"),
        PT_TEST(legacy_rust, "C241: Rust: legacy names lose their hash"),
        PT_TEST(paths, "C241: Rust: paths"),
        PT_TEST(impls_and_back_references, "C241: Rust: impls, and what was said before"),
        PT_TEST(types, "C241: Rust: types"),
        PT_TEST(constants, "C241: Rust: constants"),
        PT_TEST(closures_and_shims, "C241: Rust: closures and shims"),
        PT_TEST(letters_of_the_world, "C241: Rust: letters beyond ASCII"),
        PT_TEST(what_is_no_name_stays_as_it_is, "C241: Rust: what is not a name stays unchanged"),
        PT_TEST(exploding_names_stay_as_they_are,
                "C241: names that expand without end stay mangled"),
        PT_TEST(deep_names_stay_as_they_are, "C241: names that nest too deep stay mangled"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
