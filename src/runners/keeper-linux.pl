# What keeper.pl needs of Linux and perl-base has no name for: epoll, packet pipes, subreapers, resource limits, control
# groups. Numbers and layouts are those of the kernel's interface for the two machines.
use strict;
use warnings;
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use POSIX ();

use constant {
    EPOLL_IN      => 0x1,
    EPOLL_OUT     => 0x4,
    EPOLL_HUP     => 0x10,
    EPOLL_EDGE    => 0x80000000,
    EPOLL_ADD     => 1,
    EPOLL_CHANGE  => 3,
    SET_PIPE_SIZE => 1031,
    CLOEXEC       => 0x80000,
    EVENTS        => 8,
};

my %numbers = (
    x86_64 => {
        epoll_create1 => 291, epoll_ctl => 233, epoll_pwait => 281, pipe2 => 293, prctl => 157, prlimit64 => 302,
        signalfd4 => 289, clock_gettime => 228, close_range => 436,
        packets => 0x4000, event => 'LQ', event_bytes => 12,
    },
    aarch64 => {
        epoll_create1 => 20, epoll_ctl => 21, epoll_pwait => 22, pipe2 => 59, prctl => 167, prlimit64 => 261,
        signalfd4 => 74, clock_gettime => 113, close_range => 436,
        packets => 0x10000, event => 'Lx4Q', event_bytes => 16,
    },
);
my $machine = (POSIX::uname())[4];
my $sys = $numbers{$machine};
fatal("no system calls are known for $machine") unless $sys;

sub now_ms {
    my $time = "\0" x 16;
    syscall($sys->{clock_gettime}, 1, $time);
    my ($seconds, $nanos) = unpack 'qq', $time;
    return $seconds * 1000 + int($nanos / 1_000_000);
}

# ---- Descriptors

sub packets { return $sys->{packets} }

sub open_descriptor {
    my ($mode, $number) = @_;
    die "$!" if $number < 0;
    open my $handle, "$mode&=", $number or die "$!";
    return $handle;
}

sub make_pipe {
    my ($flags) = @_;
    my $numbers = "\0" x 8;
    die "$!" if syscall($sys->{pipe2}, $numbers, $flags | CLOEXEC) < 0;
    my ($read, $write) = unpack 'll', $numbers;
    return (open_descriptor('<', $read), open_descriptor('>', $write));
}

sub nonblocking {
    my ($handle) = @_;
    fcntl $handle, F_SETFL, fcntl($handle, F_GETFL, 0) | O_NONBLOCK or die "$!";
}

# Everything but stdio, which the spawner may have inherited.
sub close_on_exec { syscall($sys->{close_range}, 3, 0xFFFFFFFF, 4) }

sub open_epoll { return open_descriptor('+<', syscall($sys->{epoll_create1}, CLOEXEC)) }

sub watch {
    my ($epoll, $handle, $as, $events, $operation) = @_;
    my $event = pack $sys->{event}, $events, $as;
    die "$!" if syscall($sys->{epoll_ctl}, fileno $epoll, $operation // EPOLL_ADD, fileno $handle, $event) < 0;
}

# Answers how many events there are, and of each what happened and to whom.
sub wait_for {
    my ($epoll, $wait_ms) = @_;
    my $events = "\0" x (EVENTS * $sys->{event_bytes});
    my $count = syscall($sys->{epoll_pwait}, fileno $epoll, $events, EVENTS, $wait_ms, 0, 8);
    return ($count, $count > 0 ? unpack "($sys->{event})$count", $events : ());
}

# A descriptor that is readable when a child has ended. As a handler the signal could come just before the wait.
sub watch_children {
    POSIX::sigprocmask(POSIX::SIG_BLOCK, POSIX::SigSet->new(POSIX::SIGCHLD));
    my $set = pack 'Q', 1 << (POSIX::SIGCHLD - 1);
    return open_descriptor('<', syscall($sys->{signalfd4}, -1, $set, 8, CLOEXEC | O_NONBLOCK));
}

# ---- Processes

sub become_subreaper { syscall($sys->{prctl}, 36, 1, 0, 0, 0) }

# All below the process, but for those in %$without and what is below them.
sub descendants {
    my ($root, $without) = @_;
    my %below;
    opendir my $proc, '/proc' or return;
    for my $pid (grep { /^\d+$/ } readdir $proc) {
        open my $stat, '<', "/proc/$pid/stat" or next;
        sysread $stat, my $line, 1024 or next;
        push @{ $below{$1} }, $pid if $line =~ /.*\) \S (\d+)/s;    # the name before it may hold anything
    }
    my @found;
    my @next = ($root);
    while (@next) {
        my @more = grep { !$without || !$without->{$_} } @{ $below{ shift @next } || [] };
        push @found, @more;
        push @next, @more;
    }
    return @found;
}

sub limit_resource {
    my ($resource, $wanted, $more) = @_;
    return if $wanted eq '';
    my $old = "\0" x 16;
    syscall($sys->{prlimit64}, 0, $resource, 0, $old);
    my (undef, $most) = unpack 'QQ', $old;
    my ($soft, $hard) = map { $_ < $most ? $_ : $most } $wanted + 0, $wanted + ($more // 0);
    syscall($sys->{prlimit64}, 0, $resource, pack('QQ', $soft, $hard), 0);
}

sub limit_cpu_time      { limit_resource(0, $_[0], 1) }    # XCPU, and a second later KILL
sub limit_file_size     { limit_resource(1, $_[0]) }
sub limit_processes     { limit_resource(6, $_[0]) }
sub limit_open_files    { limit_resource(7, $_[0]) }
sub limit_address_space { limit_resource(9, $_[0]) }

# ---- Control groups: version 2 to kill at one stroke, either version for limits of a command as a whole

my %limit_files = (memory => ['memory.max', 'memory.limit_in_bytes'], pids => ['pids.max', 'pids.max']);

sub write_file {
    my ($file, $text) = @_;
    open my $handle, '>', $file or return 0;
    return syswrite $handle, "$text\n";
}

sub read_file {
    open my $handle, '<', $_[0] or return '';
    local $/;
    return scalar <$handle> // '';
}

# The folder of this process in the hierarchy of the controller, or without one in that of version 2.
sub own_group {
    my ($controller) = @_;
    my $line = $controller ? qr/^\d+:(?:[^:\n]*,)?$controller(?:,[^:\n]*)?:(.*)$/m : qr/^0::(.*)$/m;
    my ($own) = read_file('/proc/self/cgroup') =~ $line or return;
    for (split /\n/, read_file('/proc/self/mountinfo')) {
        my ($mount, $type, $options) = /^\S+ \S+ \S+ \S+ (\S+) .* - (cgroup2?) \S+ (\S+)$/ or next;
        next unless $controller ? $type eq 'cgroup' && $options =~ /\b$controller\b/ : $type eq 'cgroup2';
        return $own eq '/' ? $mount : "$mount$own";
    }
    return;
}

# A folder below the own group in which commands get groups that can be killed; undefined where that is not to be had.
sub make_groups {
    my ($name) = @_;
    my $folder = (own_group() // return) . "/$name";
    mkdir $folder or $!{EEXIST} or return;
    if (!-w "$folder/cgroup.kill") {
        rmdir $folder;
        return;
    }
    write_file("$folder/cgroup.subtree_control", $_) for '+memory', '+pids';
    return $folder;
}

# Ends and removes what servers that are dead have left in their groups. Of one in another namespace nothing is known.
sub clear_dead_groups {
    my ($own) = (readlink '/proc/self/ns/pid' // '') =~ /(\d+)/ or return;
    for my $folder (map { folders_in($_) } grep { defined } own_group(), own_group('memory'), own_group('pids')) {
        my ($pid, $start) = $folder =~ m{/millrace-$own\.(\d+)\.(\d+)\.[\d.]+$} or next;
        next if started_at($pid) eq $start;
        for my $group (folders_in($folder), $folder) {
            kill_group($group);
            for (1 .. 50) {
                last if rmdir $group or !$!{EBUSY};
                select undef, undef, undef, 0.01;
            }
        }
    }
}

sub folders_in {
    my ($folder) = @_;
    opendir my $entries, $folder or return;
    return grep { -d } map { "$folder/$_" } grep { !/^\.\.?$/ } readdir $entries;
}

# In the clock of /proc; empty when the process does not live.
sub started_at {
    my ($pid) = @_;
    my @fields = split ' ', read_file("/proc/$pid/stat") =~ s/.*\) //sr;
    return @fields && $fields[0] ne 'Z' ? $fields[19] : '';
}

# Makes the groups of one command; what cannot be had is left out.
sub make_own_groups {
    my ($groups, $name, $id, $limits) = @_;
    my $own = defined $groups ? "$groups/$id" : undef;
    # A spawner that went has taken the folder with it when that was empty.
    $own = undef unless defined $own && (mkdir $own or mkdir $groups and mkdir $own);
    my @made = defined $own ? $own : ();
    for my $controller (sort grep { $limits->{$_} ne '' } keys %$limits) {
        my ($file, $old_file) = @{ $limit_files{$controller} };
        next if defined $own && write_file("$own/$file", $limits->{$controller});
        my $folder = (own_group($controller) // next) . "/$name.$id";
        mkdir $folder or next;
        if   (write_file("$folder/$old_file", $limits->{$controller})) { push @made, $folder }
        else                                                           { rmdir $folder }
    }
    return @made;
}

sub join_group { write_file("$_[0]/cgroup.procs", 0) }

sub kill_group { write_file("$_[0]/cgroup.kill", 1) if -e "$_[0]/cgroup.kill" }

sub is_limited {
    my ($folder, $controller) = @_;
    return grep { read_file("$folder/$_") =~ /^\d{1,18}$/ } @{ $limit_files{$controller} };
}

sub ran_out_of_memory {
    my ($folder) = @_;
    return grep { read_file("$folder/$_") =~ /^oom_kill [1-9]/m } 'memory.events', 'memory.oom_control';
}

1;
