# run_fuzz.sh: damaged ELF files get a message, never a crash. Part of run.sh.
if ! command -v python3 >/dev/null; then
    skip "damaged_elf_files" "no python3"
elif python3 "$here/elf_fuzz.py" "$skein" "$tmp/lib" "$first_run" "$first_app" "${SKEIN_TEST_SEED:-1}" 600 >fuzz.out 2>&1; then
    ok "damaged_elf_files_never_crash"
else
    fail "damaged_elf_files_never_crash" "$(says fuzz.out)"
fi
